CREATE TABLE orders (
    id TEXT PRIMARY KEY,
    key_id TEXT,
    created_at BIGINT NOT NULL,
    pack TEXT NOT NULL,
    calls BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    balance BIGINT NOT NULL,
    status TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    token TEXT,
    body_hash TEXT,
    session_id TEXT UNIQUE,
    checkout_url TEXT,
    payment_intent TEXT,
    note TEXT NOT NULL
);
CREATE INDEX orders_by_key ON orders (key_id, token);
CREATE INDEX orders_by_time ON orders (created_at, id);
CREATE INDEX orders_by_payment ON orders (payment_intent);
CREATE TABLE reversals (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    payment_intent TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    is_final BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
CREATE INDEX reversals_by_payment ON reversals (payment_intent);
