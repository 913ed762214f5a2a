"""`python -m api receipts`: make signing keys, and verify receipts without a network."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from api import app, facts
from api.commands.output import fail, show
from api.config import Config
from api.core.receipts import keys
from api.core.receipts.canonical import digest
from api.core.receipts.issuer import Issuer
from api.core.receipts.signing import REASONS
from api.core.strict_json import MalformedJson, parse

NAME, HELP = "receipts", "Make signing keys, and verify receipts without a network."
_ROTATION = """\
To rotate: make a key with keygen, add its public key to RECEIPT_RETIRED_KEYS and restart. After five minutes, when
every cached key list has run out, make it the RECEIPT_SIGNING_KEY, put the old public key into RECEIPT_RETIRED_KEYS in
its place and restart. Keep old public keys there as long as their receipts shall verify.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """keygen, public, verify."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    making = actions.add_parser("keygen", help="make an Ed25519 signing key", description=_ROTATION)
    making.add_argument(
        "file", nargs="?", type=Path, help="where to, with mode 0600; must not exist (default: print it)"
    )
    making.set_defaults(without_settings=True)
    showing = actions.add_parser(
        "public", help="print the public key of a signing key, for RECEIPT_RETIRED_KEYS", description=_ROTATION
    )
    showing.add_argument("file", type=Path, help="the private key")
    showing.set_defaults(without_settings=True)
    verifying = actions.add_parser("verify", help="say whether a receipt is valid")
    verifying.add_argument("file", help="a receipt, or a whole response that carries one; - is standard input")
    verifying.add_argument("--jwks", type=Path, help="the issuer's saved jwks.json (default: the keys of the settings)")
    verifying.add_argument("--issuer", help="whose receipt it must be (default: PUBLIC_BASE_URL)")
    verifying.add_argument("--request", help="the request body that it must be about")


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Exit status 0 for a key that was made or shown and for a valid receipt, 1 otherwise."""
    try:
        match arguments.action:
            case "keygen":
                return _make(arguments.file)
            case "public":
                _show_public(keys.private_key(arguments.file.read_text(encoding="ascii")).public_key())
                return 0
            case _:
                return _verify(config, arguments)
    except FileExistsError as error:
        return fail(f"{error.filename} exists already, and a key is never overwritten. Name a new file.")
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    except keys.NoKey as error:
        return fail(f"What is wanted is {error}.")
    except (MalformedJson, UnicodeDecodeError) as error:
        return fail(f"The file can't be read: {error}")


def _make(file: Path | None) -> int:
    pem = keys.new_private_pem()
    if file is None:
        # Alone on standard output, so that it can go into a file or a vault by a pipe.
        print(pem, end="")
        return 0
    else:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as out:
            out.write(pem)
        print(f"Wrote {file}. Set RECEIPT_SIGNING_KEY to its path, and keep it secret.", file=sys.stderr)
    _show_public(keys.private_key(pem).public_key())
    return 0


def _show_public(key: Ed25519PublicKey) -> None:
    """The PEM on standard output, ready for a file; its name beside it."""
    print(keys.public_pem(key), end="")
    print(f"kid: {keys.thumbprint(key)}", file=sys.stderr)


def _verify(config: Config, arguments: argparse.Namespace) -> int:
    url = (arguments.issuer or config.public_base_url or facts.load(app.CONTENT).base_url).rstrip("/")
    issuer = Issuer.of(url, config.receipt_signing_key, config.receipt_retired_keys)
    if arguments.jwks is not None:
        issuer = Issuer(url, None, keys.read_jwks(parse(arguments.jwks.read_bytes())))
    elif not issuer.keys:
        return fail(f"There are no keys in the settings. Save {url}{keys.JWKS_PATH} and name the file with --jwks.")
    given = _read(arguments.file)
    response = given if isinstance(given, dict) and "signatures" not in given and "receipt" in given else None
    receipt = given if response is None else response["receipt"]
    reason = issuer.refusal(receipt)
    told = REASONS[reason] if reason else ""
    if reason is None and response is not None:
        bare = {name: value for name, value in response.items() if name != "receipt"}
        reason, told = _compared(receipt, "response_hash", bare)
    if reason is None and arguments.request is not None:
        reason, told = _compared(receipt, "request_hash", _read(arguments.request))
    show({"valid": reason is None, "reason": reason, "receipt": receipt if reason is None else None})
    return fail(told) if reason else 0


def _compared(receipt: dict[str, Any], name: str, body: Any) -> tuple[str | None, str]:
    if receipt[name] == digest(body):
        return None, ""
    return f"wrong_{name}", f"The receipt is genuine, but it is about another {name.removesuffix('_hash')}."


def _read(name: str) -> Any:
    return parse(sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes())
