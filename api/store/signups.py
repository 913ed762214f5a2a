"""How many keys each client address made within an hour. Addresses are stored as keyed hashes only."""

from api.store.database import Tx

WINDOW_S = 3_600


async def take(tx: Tx, address: str, now: int, limit: int) -> int | None:
    """Counts one sign-up of `address`; None when it was within `limit`, else the seconds until the next one is let in.

    A window opens with the first sign-up and lasts an hour. One statement decides, so that parallel sign-ups can't
    pass it together.
    """
    taken = await tx.one(
        """INSERT INTO signups (address, opened_at, count) VALUES (:address, :now, 1)
        ON CONFLICT (address) DO UPDATE SET
            count = CASE WHEN signups.opened_at <= :now - :window THEN 1 ELSE signups.count + 1 END,
            opened_at = CASE WHEN signups.opened_at <= :now - :window THEN :now ELSE signups.opened_at END
        WHERE signups.count < :limit OR signups.opened_at <= :now - :window
        RETURNING count""",
        address=address,
        now=now,
        window=WINDOW_S,
        limit=limit,
    )
    if taken is not None:
        return None
    row = await tx.one("SELECT opened_at FROM signups WHERE address = :address", address=address)
    return max(1, row["opened_at"] + WINDOW_S - now) if row else 1


async def prune(tx: Tx, now: int) -> int:
    """Forgets the addresses whose window is over; how many."""
    return await tx.run("DELETE FROM signups WHERE opened_at <= :now - :window", now=now, window=WINDOW_S)
