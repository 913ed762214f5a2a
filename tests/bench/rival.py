"""A FastAPI application that answers the same call with the same accounting, one transaction a call: what most
would write.

It runs in an environment of its own, so it imports nothing of ours but the pure consensus function.
Run as `python -m tests.bench.rival PORT DATABASE KEYS` with the keys' hashes in the file KEYS.
"""

import asyncio
import hashlib
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
import uvicorn
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, Field

from api.core.consensus import Answer, consensus
from api.core.secrets import new_id

SCHEMA = """
CREATE TABLE keys (id INTEGER PRIMARY KEY, secret_hash TEXT UNIQUE, credits INTEGER NOT NULL);
CREATE TABLE daily_use (key_id INTEGER, day INTEGER, calls INTEGER NOT NULL, PRIMARY KEY (key_id, day));
CREATE TABLE drift (key_id INTEGER, agent TEXT, version TEXT, hour INTEGER, calls INTEGER NOT NULL, risk REAL NOT NULL,
    PRIMARY KEY (key_id, agent, version, hour));
"""
RISKS = {"low": 0.0, "medium": 0.5, "high": 1.0}


class AnswerIn(BaseModel):
    output: str = Field(min_length=1, max_length=16_000)
    agent_id: str | None = Field(default=None, max_length=80)


class Body(BaseModel):
    task: str = Field(min_length=1, max_length=8_000)
    answers: list[AnswerIn] = Field(min_length=2, max_length=16)


class ClusterOut(BaseModel):
    size: int
    agent_ids: list[str]
    representative: str


class Result(BaseModel):
    consensus_answer: str
    agreement_score: float
    false_consensus_risk: str
    reasons: list[str]
    clusters: list[ClusterOut]
    engine: str
    request_id: str
    retention: dict[str, bool]


def make_app(database: Path) -> FastAPI:
    """The application on a database that `fill` made."""
    state: dict[str, aiosqlite.Connection] = {}
    lock = asyncio.Lock()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        connection = await aiosqlite.connect(database, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000"):
            await connection.execute(f"PRAGMA {pragma}")
        state["connection"] = connection
        yield
        await connection.close()

    async def charge(secret: str, risk: float) -> None:
        connection, now = state["connection"], int(time.time())
        digest = hashlib.sha256(secret.encode()).hexdigest()
        async with lock:
            await connection.execute("BEGIN IMMEDIATE")
            try:
                rows = list(await connection.execute_fetchall("SELECT id FROM keys WHERE secret_hash = ?", (digest,)))
                if not rows:
                    raise HTTPException(401)
                key = rows[0][0]
                taken = list(
                    await connection.execute_fetchall(
                        "UPDATE keys SET credits = credits - 1 WHERE id = ? AND credits > 0 RETURNING credits", (key,)
                    )
                )
                if not taken:
                    raise HTTPException(429)
                await connection.execute(
                    "INSERT INTO daily_use VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET calls = calls + 1",
                    (key, now // 86_400),
                )
                await connection.execute(
                    "INSERT INTO drift VALUES (?, '', '', ?, 1, ?) "
                    "ON CONFLICT DO UPDATE SET calls = calls + 1, risk = risk + excluded.risk",
                    (key, now // 3_600, risk),
                )
            except BaseException:
                await connection.execute("ROLLBACK")
                raise
            await connection.execute("COMMIT")

    app = FastAPI(lifespan=lifespan)

    @app.post("/v1/consensus")
    async def post(body: Body, authorization: str = Header()) -> Result:
        result = consensus([Answer(answer.output, answer.agent_id) for answer in body.answers]).as_dict()
        await charge(authorization.removeprefix("Bearer "), RISKS[result["false_consensus_risk"]])
        return Result(**result, request_id=new_id("req", _random), retention={"retained": False})

    return app


def _random(length: int) -> bytes:
    with open("/dev/urandom", "rb", buffering=0) as source:
        return source.read(length)


def fill(database: Path, hashes: list[str]) -> None:
    """Makes the database with these keys and more credits than a bench uses."""
    connection = sqlite3.connect(database)
    connection.executescript(SCHEMA)
    connection.executemany("INSERT INTO keys (secret_hash, credits) VALUES (?, 1000000000)", [(h,) for h in hashes])
    connection.commit()
    connection.close()


if __name__ == "__main__":
    path = Path(sys.argv[2])
    fill(path, Path(sys.argv[3]).read_text().split())
    uvicorn.run(make_app(path), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
