"""`python -m api credits`: read, grant and correct prepaid calls."""

import argparse

from api.commands.operate import call
from api.config import Config

NAME, HELP = "credits", "Read, grant and correct a key's prepaid calls."


def add(parser: argparse.ArgumentParser) -> None:
    """show, grant, correct."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    showing = actions.add_parser("show", help="print a key's ledger and balance")
    showing.add_argument("key_id", help="the key's id")
    for name, text in (("grant", "add calls"), ("correct", "take calls back")):
        change = actions.add_parser(name, help=text)
        change.add_argument("key_id", help="the key's id")
        change.add_argument("calls", type=_above_zero, help="how many calls, above zero")
        change.add_argument("--note", required=True, help="why, kept in the ledger")
        change.add_argument("--reference", help="makes the entry unique: the same one again changes nothing")


def _above_zero(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number above zero")
    return int(text)


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Prints the ledger or the new balance."""
    path = {"id": arguments.key_id}
    if arguments.action == "show":
        return call(config, "admin_list_credits", {}, path)
    calls = arguments.calls if arguments.action == "grant" else -arguments.calls
    body = {"calls": calls, "note": arguments.note}
    if arguments.reference:
        body["reference"] = arguments.reference
    return call(config, "admin_add_credits", body, path)
