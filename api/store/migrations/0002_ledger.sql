ALTER TABLE keys ADD COLUMN credits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE daily_use ADD COLUMN credit BIGINT NOT NULL DEFAULT 0;
CREATE TABLE credit_entries (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    reason TEXT NOT NULL,
    reference TEXT NOT NULL,
    note TEXT NOT NULL,
    UNIQUE (key_id, reference)
);
CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    day TEXT NOT NULL,
    is_free BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX reservations_by_expiry ON reservations (expires_at);
CREATE TABLE idempotency (
    caller TEXT NOT NULL,
    token TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    request_id TEXT NOT NULL,
    retained_id TEXT,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (caller, token)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
CREATE TABLE retained (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    request TEXT NOT NULL,
    response TEXT NOT NULL
);
CREATE INDEX retained_by_key ON retained (key_id, created_at, id);
CREATE INDEX retained_by_expiry ON retained (expires_at);
CREATE TABLE settings (
    key_id TEXT PRIMARY KEY REFERENCES keys (id) ON DELETE CASCADE,
    retention_days BIGINT NOT NULL DEFAULT 1,
    alert_webhook_url TEXT NOT NULL DEFAULT '',
    alert_webhook_secret TEXT NOT NULL DEFAULT ''
);
CREATE TABLE drift_hours (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    version TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    hour BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    passes BIGINT NOT NULL,
    fails BIGINT NOT NULL,
    retries BIGINT NOT NULL,
    score_total BIGINT NOT NULL,
    risk_total BIGINT NOT NULL,
    PRIMARY KEY (key_id, agent_id, version, endpoint, hour)
);
CREATE INDEX drift_hours_by_hour ON drift_hours (hour);
CREATE TABLE job_runs (
    job TEXT NOT NULL,
    slot BIGINT NOT NULL,
    owner TEXT NOT NULL,
    claimed_at BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (job, slot)
);
