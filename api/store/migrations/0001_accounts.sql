CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);
CREATE INDEX keys_by_email ON keys (email);
CREATE TABLE daily_use (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    day TEXT NOT NULL,
    free BIGINT NOT NULL DEFAULT 0,
    judge BIGINT NOT NULL DEFAULT 0,
    consensus BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (key_id, day)
);
CREATE TABLE signups (
    address TEXT PRIMARY KEY,
    opened_at BIGINT NOT NULL,
    count BIGINT NOT NULL
);
CREATE INDEX signups_by_time ON signups (opened_at);
