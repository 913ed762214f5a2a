"""`python -m api check`: whether the database is whole and the ledger adds up."""

import argparse
import sqlite3

from api.commands.operate import with_services
from api.commands.output import fail
from api.config import Config
from api.service.services import Services
from api.store import credits

NAME, HELP = "check", "Check that the database is whole and that every balance follows from its entries."


def add(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Prints what is wrong and exits with 1, or says that all is well."""

    async def work(services: Services) -> int:
        wrong = [
            f"key {row['id']}: the balance is {row['credits']}, its entries and uses say {row['expected']}"
            for row in await services.database.read(credits.faults)
        ]
        wrong += _file_faults(config)
        if wrong:
            return fail("\n".join(wrong))
        print("The database is whole and every balance follows from its entries.")
        return 0

    return with_services(config, work)


def _file_faults(config: Config) -> list[str]:
    """What SQLite finds wrong with its file. PostgreSQL looks after its own."""
    if not config.database_url.startswith("sqlite:"):
        return []
    with sqlite3.connect(config.sqlite_path) as connection:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        found += [f"a row of {row[0]} hangs on no key" for row in connection.execute("PRAGMA foreign_key_check")]
    connection.close()
    return [fault for fault in found if fault != "ok"]
