"""`python -m api settings`: the table of all environment variables."""

import argparse

from api.config import Config, settings_table

NAME, HELP = "settings", "Print the table of all environment variables as Markdown."


def add(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Exit status 0."""
    print(settings_table())
    return 0
