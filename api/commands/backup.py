"""`python -m api backup FILE`: a consistent copy of the database while it is in use."""

import argparse
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

from api.commands.output import fail
from api.config import Config

NAME, HELP = "backup", "Copy the database to a file, consistently, while it is in use."


def add(parser: argparse.ArgumentParser) -> None:
    """FILE."""
    parser.add_argument("file", type=Path, help="where to; it must not exist yet")


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Writes beside the file first and renames, so that the file is whole when it is there."""
    target: Path = arguments.file
    if target.exists():
        return fail(f"{target} exists already. Name a new file.")
    unfinished = target.with_name(target.name + ".part")
    try:
        fault = _copy(config, unfinished)
        if fault is None:
            unfinished.replace(target)
    except (OSError, sqlite3.Error) as error:
        fault = str(error)
    if fault is not None:
        unfinished.unlink(missing_ok=True)
        return fail(f"No backup was made: {fault}")
    print(f"Wrote {target}. Keep SECRET_KEY with it: without it, sealed webhook secrets can't be read.")
    return 0


def _copy(config: Config, target: Path) -> str | None:
    if config.database_url.startswith("sqlite:"):
        return _copy_sqlite(config.sqlite_path, target)
    return _dump_postgres(config.database_url, target)


def _copy_sqlite(source: Path, target: Path) -> str | None:
    """SQLite's online backup: one transaction's view of the whole file. Writers go on meanwhile."""
    if not source.is_file():
        return f"there is no database at {source}"
    reading = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    writing = sqlite3.connect(target)
    try:
        reading.execute("PRAGMA busy_timeout=10000")
        reading.backup(writing)
    finally:
        writing.close()
        reading.close()
    with target.open("rb") as file:
        os.fsync(file.fileno())
    return None


def _dump_postgres(url: str, target: Path) -> str | None:
    """pg_dump's custom format, which pg_restore reads."""
    program = shutil.which("pg_dump")
    if program is None:
        return "pg_dump is missing. Install it: apt-get install postgresql-client"
    done = subprocess.run(  # noqa: S603 - the program is found on PATH, the URL is the operator's own setting
        [program, "--format=custom", "--no-owner", f"--file={target}", f"--dbname={url}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.strip() if done.returncode else None
