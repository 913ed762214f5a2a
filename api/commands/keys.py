"""`python -m api keys`: find and revoke keys."""

import argparse

from api.commands.operate import call
from api.config import Config

NAME, HELP = "keys", "Find and revoke API keys."


def add(parser: argparse.ArgumentParser) -> None:
    """list, revoke."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list keys, newest first")
    listing.add_argument("--email", help="only those of this email")
    listing.add_argument("--prefix", help="only the one whose secret begins with these 12 characters")
    listing.add_argument("--id", help="only the one with this id")
    listing.add_argument("--limit", type=int, default=20, help="at most so many (default 20)")
    listing.add_argument("--cursor", help="the next_cursor of the page before")
    revoke = actions.add_parser("revoke", help="delete a key and all that belongs to it")
    revoke.add_argument("id", help="the key's id")


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Prints a page of keys, or what was revoked."""
    if arguments.action == "revoke":
        return call(config, "admin_revoke_key", {}, {"id": arguments.id})
    names = ("email", "prefix", "id", "limit", "cursor")
    wanted = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return call(config, "admin_list_keys", wanted)
