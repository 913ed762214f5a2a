"""`python -m api serve`: serves the API and the built site until it is told to stop."""

import argparse
import asyncio

from api import app, logs
from api.commands.output import fail
from api.config import Config
from api.store.database import NewerSchema, StorageUnavailable
from api.supervisor import supervise

NAME, HELP = "serve", "Serve the API and the built site until told to stop (SIGTERM or Ctrl-C)."


def add(parser: argparse.ArgumentParser) -> None:
    """All settings come from the environment."""


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Exit status 0 after a graceful stop."""
    logs.configure(config.log_level)
    try:
        return asyncio.run(supervise(config) if config.workers > 1 else app.serve(config))
    except (StorageUnavailable, NewerSchema) as error:
        remedy = "and the rights on its folder" if config.database_url.startswith("sqlite:") else "and that it runs"
        return fail(f"The database can't be used: {error}. Check DATABASE_URL {remedy}.")
    except OSError as error:
        return fail(f"Can't listen on {config.host}:{config.port}: {error.strerror}. Set HOST or PORT.")
