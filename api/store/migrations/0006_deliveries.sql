CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    next_attempt_at BIGINT NOT NULL,
    give_up_at BIGINT NOT NULL,
    holder TEXT NOT NULL DEFAULT '',
    held_until BIGINT NOT NULL DEFAULT 0,
    last_attempt_at BIGINT,
    last_status BIGINT,
    last_error TEXT,
    delivered_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX deliveries_by_key ON deliveries (key_id, created_at);
CREATE INDEX deliveries_by_due ON deliveries (status, next_attempt_at);
CREATE INDEX deliveries_by_time ON deliveries (created_at, id);
