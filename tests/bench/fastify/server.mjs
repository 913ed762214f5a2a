// A fastify application that answers POST /v1/consensus, with its schemas compiled and without a log. With a database it does the
// same accounting as the FastAPI one, a transaction a call; without one it only answers.
//
// node server.mjs PORT [DATABASE KEYS]: KEYS is a file with the hashes of the keys.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import Fastify from "fastify";
import { consensus } from "./consensus.mjs";

const [port, path, keysFile] = process.argv.slice(2);
const RISKS = { low: 0, medium: 0.5, high: 1 };
const body = {
  type: "object",
  required: ["task", "answers"],
  properties: {
    task: { type: "string", minLength: 1, maxLength: 8000 },
    answers: {
      type: "array",
      minItems: 2,
      maxItems: 16,
      items: {
        type: "object",
        required: ["output"],
        properties: {
          output: { type: "string", minLength: 1, maxLength: 16000 },
          agent_id: { type: "string", minLength: 1, maxLength: 80 },
        },
      },
    },
  },
};
const string = { type: "string" };
const strings = { type: "array", items: string };
const response = {
  200: {
    type: "object",
    properties: {
      consensus_answer: string,
      agreement_score: { type: "number" },
      false_consensus_risk: string,
      reasons: strings,
      clusters: {
        type: "array",
        items: {
          type: "object",
          properties: { size: { type: "integer" }, agent_ids: strings, representative: string },
        },
      },
      engine: string,
      request_id: string,
      retention: { type: "object", properties: { retained: { type: "boolean" } } },
    },
  },
};

function accounting() {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE keys (id INTEGER PRIMARY KEY, secret_hash TEXT UNIQUE, credits INTEGER NOT NULL);
    CREATE TABLE daily_use (key_id INTEGER, day INTEGER, calls INTEGER NOT NULL, PRIMARY KEY (key_id, day));
    CREATE TABLE drift (key_id INTEGER, agent TEXT, version TEXT, hour INTEGER, calls INTEGER NOT NULL, risk REAL NOT NULL,
      PRIMARY KEY (key_id, agent, version, hour));`);
  const add = database.prepare("INSERT INTO keys (secret_hash, credits) VALUES (?, 1000000000)");
  for (const hash of readFileSync(keysFile, "utf8").split(/\s+/).filter(Boolean)) add.run(hash);
  const find = database.prepare("SELECT id FROM keys WHERE secret_hash = ?");
  const take = database.prepare("UPDATE keys SET credits = credits - 1 WHERE id = ? AND credits > 0 RETURNING credits");
  const count = database.prepare("INSERT INTO daily_use VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET calls = calls + 1");
  const drift = database.prepare(
    `INSERT INTO drift VALUES (?, '', '', ?, 1, ?)
     ON CONFLICT DO UPDATE SET calls = calls + 1, risk = risk + excluded.risk`,
  );
  const charge = (digest, risk) => {
    const key = find.get(digest);
    if (!key) return 401;
    if (!take.get(key.id)) return 429;
    const now = Math.floor(Date.now() / 1000);
    count.run(key.id, Math.floor(now / 86400));
    drift.run(key.id, Math.floor(now / 3600), risk);
    return 200;
  };
  return (secret, risk) => {
    database.exec("BEGIN IMMEDIATE");
    try {
      const status = charge(createHash("sha256").update(secret).digest("hex"), risk);
      database.exec("COMMIT");
      return status;
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  };
}

const charge = path ? accounting() : () => 200;
const app = Fastify();
app.post("/v1/consensus", { schema: { body, response } }, (request, reply) => {
  const result = consensus(request.body.answers);
  const secret = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  const status = charge(secret, RISKS[result.false_consensus_risk]);
  if (status !== 200) return reply.code(status).send({ error: "refused" });
  return { ...result, request_id: `req_${randomBytes(8).toString("hex")}`, retention: { retained: false } };
});
await app.listen({ port: Number(port), host: "127.0.0.1" });
