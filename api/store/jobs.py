"""Which process runs which slot of a job. One statement decides, so that any number of processes runs a slot once."""

from api.store.database import Tx


async def claim(tx: Tx, job: str, slot: int, owner: str, now: int, lease_s: int) -> bool:
    """Takes the slot for `owner`; whether it got it.

    A slot that was taken and not finished for `lease_s` seconds counts as left by a dead owner and is taken over.
    """
    taken = await tx.one(
        """INSERT INTO job_runs (job, slot, owner, claimed_at) VALUES (:job, :slot, :owner, :now)
        ON CONFLICT (job, slot) DO UPDATE SET owner = excluded.owner, claimed_at = excluded.claimed_at
        WHERE job_runs.finished_at IS NULL AND job_runs.claimed_at <= :now - :lease_s
        RETURNING owner""",
        job=job,
        slot=slot,
        owner=owner,
        now=now,
        lease_s=lease_s,
    )
    return taken is not None


async def finish(tx: Tx, job: str, slot: int, owner: str, now: int) -> None:
    """Marks the slot as done, unless another owner has taken it over meanwhile."""
    await tx.run(
        "UPDATE job_runs SET finished_at = :now WHERE job = :job AND slot = :slot AND owner = :owner",
        job=job,
        slot=slot,
        owner=owner,
        now=now,
    )


async def last_finished(tx: Tx) -> dict[str, int]:
    """When each job last finished, in epoch seconds."""
    rows = await tx.all("SELECT job, max(finished_at) AS at FROM job_runs WHERE finished_at IS NOT NULL GROUP BY job")
    return {row["job"]: row["at"] for row in rows}


async def prune(tx: Tx, before: int) -> int:
    """Forgets runs claimed before `before`, but for each job's newest; how many."""
    return await tx.run(
        """DELETE FROM job_runs WHERE claimed_at < :before
        AND slot < (SELECT max(newest.slot) FROM job_runs newest WHERE newest.job = job_runs.job)""",
        before=before,
    )
