CREATE TABLE drift_hours_by_agent (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    hour BIGINT NOT NULL,
    version TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    calls BIGINT NOT NULL,
    passes BIGINT NOT NULL,
    fails BIGINT NOT NULL,
    retries BIGINT NOT NULL,
    score_total BIGINT NOT NULL,
    risk_total BIGINT NOT NULL,
    PRIMARY KEY (key_id, agent_id, hour, version, endpoint)
);
INSERT INTO drift_hours_by_agent
    (key_id, agent_id, hour, version, endpoint, calls, passes, fails, retries, score_total, risk_total)
SELECT key_id, agent_id, hour, version, endpoint, calls, passes, fails, retries, score_total, risk_total
FROM drift_hours;
DROP TABLE drift_hours;
ALTER TABLE drift_hours_by_agent RENAME TO drift_hours;
CREATE INDEX drift_hours_by_hour ON drift_hours (hour);
CREATE TABLE drift_days (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    day BIGINT NOT NULL,
    version TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    calls BIGINT NOT NULL,
    passes BIGINT NOT NULL,
    fails BIGINT NOT NULL,
    retries BIGINT NOT NULL,
    score_total BIGINT NOT NULL,
    risk_total BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (key_id, agent_id, day, version, endpoint)
);
INSERT INTO drift_days
    (key_id, agent_id, day, version, endpoint, calls, passes, fails, retries, score_total, risk_total, last_at)
SELECT key_id, agent_id, hour - hour % 86400, version, endpoint,
    sum(calls), sum(passes), sum(fails), sum(retries), sum(score_total), sum(risk_total), max(hour)
FROM drift_hours GROUP BY key_id, agent_id, hour - hour % 86400, version, endpoint;
CREATE INDEX drift_days_by_day ON drift_days (day);
CREATE TABLE drift_firsts (
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    version TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    total BIGINT,
    PRIMARY KEY (key_id, agent_id, version, endpoint)
);
INSERT INTO drift_firsts (key_id, agent_id, version, endpoint, first_at, last_at, calls, total)
SELECT key_id, agent_id, version, endpoint, min(hour), max(hour),
    CASE WHEN sum(calls) < 20 THEN sum(calls) ELSE 20 END,
    CASE WHEN sum(calls) <= 20 THEN sum(CASE WHEN endpoint = 'judge' THEN fails ELSE risk_total END) END
FROM drift_hours GROUP BY key_id, agent_id, version, endpoint;
CREATE INDEX drift_firsts_by_time ON drift_firsts (first_at);
CREATE TABLE alerts (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    metric TEXT NOT NULL,
    cause TEXT NOT NULL,
    version TEXT,
    previous_version TEXT,
    window_calls BIGINT NOT NULL,
    window_total BIGINT NOT NULL,
    window_from BIGINT NOT NULL,
    window_to BIGINT NOT NULL,
    baseline_calls BIGINT NOT NULL,
    baseline_total BIGINT NOT NULL,
    baseline_from BIGINT NOT NULL,
    baseline_to BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX alerts_by_key ON alerts (key_id, created_at, id);
CREATE INDEX alerts_by_agent ON alerts (key_id, agent_id, created_at, id);
CREATE INDEX alerts_by_time ON alerts (created_at);
