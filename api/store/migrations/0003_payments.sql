CREATE TABLE payments (
    id TEXT PRIMARY KEY,
    network TEXT NOT NULL,
    asset TEXT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    identifier TEXT UNIQUE,
    payload_hash TEXT NOT NULL,
    binding TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    amount TEXT NOT NULL,
    payer_shown TEXT NOT NULL,
    valid_before BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    key_id TEXT,
    is_orphan BIGINT NOT NULL DEFAULT 0,
    mark_caller TEXT,
    mark_token TEXT,
    mark_body TEXT,
    state TEXT NOT NULL,
    holder TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    next_attempt_at BIGINT NOT NULL DEFAULT 0,
    is_closed BIGINT NOT NULL DEFAULT 0,
    document TEXT NOT NULL,
    transaction_hash TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    is_answered BIGINT NOT NULL DEFAULT 0,
    retained_id TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (network, asset, payer, nonce)
);
CREATE INDEX payments_by_key ON payments (key_id);
CREATE INDEX payments_by_state ON payments (state, held_until);
CREATE INDEX payments_by_mark ON payments (mark_caller, mark_token);
CREATE INDEX payments_by_time ON payments (created_at, id);
