"""The command line: `python -m api COMMAND`."""

import argparse
import os
import sys
from pathlib import Path
from typing import Protocol

from api.commands import backup, check, credits, demo_drift, jobs, keys, receipts, serve, settings
from api.commands.output import fail
from api.config import Config, ConfigFaults, from_env

DOTENV = Path(".env")


class Command(Protocol):
    """What each module of api.commands is."""

    NAME: str
    HELP: str

    def add(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, config: Config, arguments: argparse.Namespace) -> int: ...


MODULES: tuple[Command, ...] = (serve, keys, credits, receipts, jobs, demo_drift, backup, check, settings)
COMMANDS = {command.NAME: command for command in MODULES}


def main(arguments: list[str]) -> int:
    """Runs one command and returns its exit status: 0, 1 for a failure, 2 for arguments that can't be read."""
    parser = argparse.ArgumentParser(prog="python -m api", description="The server of Screwtape.ai.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add(commands.add_parser(name, help=command.HELP, description=command.HELP))
    chosen = parser.parse_args(arguments)
    try:
        # A command that works without settings must not stumble over them: it may be there to make one.
        config = from_env({}) if getattr(chosen, "without_settings", False) else from_env(os.environ, DOTENV)
    except ConfigFaults as faults:
        return fail(str(faults))
    return COMMANDS[chosen.command].run(config, chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
