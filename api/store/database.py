"""What the store asks of a database: functions of a transaction, run whole or not at all.

Store functions are `async def f(tx, ...)` with nothing but SQL inside, so that a driver may run one again after a
conflict. They write portable SQL with `:name` parameters. Two drivers stand behind the same `Database`: SQLite
here, PostgreSQL beside it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Row = Mapping[str, Any]


class StorageUnavailable(Exception):
    """The database did not answer, or could not take a write: locked for too long, full, read-only, gone.

    Nothing was done; only a connection that breaks during a commit leaves it open whether it was.
    """


class NewerSchema(Exception):
    """The database was migrated by a later version of this program."""


class Tx(Protocol):
    """One open transaction."""

    async def run(self, sql: str, **args: Any) -> int:
        """Runs a statement and returns how many rows it changed."""

    async def one(self, sql: str, **args: Any) -> Row | None:
        """The first row, or None."""

    async def all(self, sql: str, **args: Any) -> Sequence[Row]:
        """All rows."""

    async def insert(
        self, into: str, columns: Mapping[str, str], rows: Sequence[Row], then: str = "", **same: str | int
    ) -> None:
        """Inserts rows, which have `columns` with their types (as in `table`), each with the values `same` beside them.

        `then` is what follows: an ON CONFLICT clause, without parameters. The fastest way to write several rows.
        """

    def table(self, **columns: str) -> str:
        """SQL that reads the JSON array of objects in `:rows` as a table. `columns` gives each column's type, TEXT
        or BIGINT.

        For set-based statements: `INSERT INTO t SELECT a, n FROM {tx.table(a="TEXT", n="BIGINT")} AS r WHERE true`.
        """


class Database(Protocol):
    """A database that runs functions of a transaction."""

    async def write(self, fn: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` in a transaction of its own, serialisable, and commits durably before it returns.

        The transaction goes on to its end when the caller is cancelled. Raises StorageUnavailable, or what `fn`
        raises, with nothing written. `fn` may run more than once, the last time from the beginning.
        """

    async def write_alone(self, fn: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write`, and at any time only one of all processes is in it: for changes of the schema."""

    async def read(self, fn: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` on one consistent state without writing. Raises StorageUnavailable."""

    async def scrub(self) -> None:
        """Removes what deleted rows left in the files, where the database leaves anything. Raises
        StorageUnavailable."""

    async def close(self) -> None:
        """Ends all connections. Open transactions end first."""
