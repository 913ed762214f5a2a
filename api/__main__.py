"""The command line: `python -m api COMMAND`."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from api import app, config, logs
from api.store.database import NewerSchema, StorageUnavailable
from api.supervisor import supervise

DOTENV = Path(".env")


def serve(settings: config.Config) -> int:
    """Serves the API and the built site until it is told to stop."""
    logs.configure(settings.log_level)
    try:
        return asyncio.run(supervise(settings) if settings.workers > 1 else app.serve(settings))
    except (StorageUnavailable, NewerSchema) as error:
        return _fail(f"The database can't be used: {error}. Check DATABASE_URL and the rights on its folder.")
    except OSError as error:
        return _fail(f"Can't listen on {settings.host}:{settings.port}: {error.strerror}. Set HOST or PORT.")


def show_settings(settings: config.Config) -> int:
    """Prints the table of all environment variables as Markdown."""
    print(config.settings_table())
    return 0


COMMANDS = {"serve": serve, "settings": show_settings}


def main(arguments: list[str]) -> int:
    """Runs one command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m api", description="The server of Screwtape.ai.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        text = (function.__doc__ or "").splitlines()[0]
        commands.add_parser(name, help=text, description=text)
    chosen = parser.parse_args(arguments)
    try:
        settings = config.from_env(os.environ, DOTENV)
    except config.ConfigFaults as faults:
        return _fail(str(faults))
    return COMMANDS[chosen.command](settings)


def _fail(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
