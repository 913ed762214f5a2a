"""The configuration: environment variables, and `.env` beneath them. The only reader of the environment."""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dotenv import dotenv_values

from api.core.client_address import Network
from api.core.receipts import keys
from api.core.x402.payment import MARGIN_S, MAX_MARGIN_S

MAX_WORKERS = 64
MAX_TIMEOUT_S = 60
_PEM_BEGINS = "-----BEGIN"


class ConfigFaults(ValueError):
    """Everything that is wrong with the configuration, one line a fault."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable: its default as text, how it is read, and what it means. `read` raises ValueError with what is
    wanted."""

    name: str
    default: str
    read: Callable[[str], Any]
    meaning: str


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, read and checked. Secrets never show in its repr."""

    host: str
    port: int
    public_base_url: str
    workers: int
    database_url: str = field(repr=False)
    admin_token: str = field(repr=False)
    secret_key: str = field(repr=False)
    allowed_origins: tuple[str, ...]
    trusted_proxies: tuple[Network, ...]
    stripe_secret_key: str = field(repr=False)
    stripe_webhook_secret: str = field(repr=False)
    stripe_api_base: str
    x402_facilitator_url: str
    x402_facilitator_headers: Mapping[str, Mapping[str, str]] = field(repr=False)
    x402_timeout_s: float
    receipt_signing_key: str = field(repr=False)
    receipt_retired_keys: str = field(repr=False)
    llm_api_key: str = field(repr=False)
    llm_base_url: str
    llm_model: str
    llm_fallback_model: str
    llm_timeout_s: float
    llm_json_mode: bool
    webhook_allow_private: bool
    signups_per_hour: int
    key_requests_per_second: int
    client_timeout_s: float
    max_connections: int
    log_level: int

    @property
    def sqlite_path(self) -> Path:
        """The database file."""
        return Path(self.database_url.removeprefix("sqlite:///"))


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 65_535:
        raise ValueError("a port number from 0 to 65535 (0 lets the system choose)")
    return int(text)


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return text == "1"


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) > 1_000_000:
        raise ValueError("a whole number from 0 (no limit) to 1,000,000")
    return int(text)


def _connections(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise ValueError("a whole number from 1 to 1,000,000")
    return int(text)


def _base_url(text: str) -> str:
    if not text:
        return ""
    parts = urlsplit(text)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.query
        or parts.fragment
        or parts.path.strip("/")
    ):
        raise ValueError("an http or https URL without path, query or fragment, such as https://screwtape.ai")
    return text.rstrip("/")


def _service_url(text: str) -> str:
    if not text:
        return ""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("an http or https URL without user, query or fragment, such as https://facilitator.example/v2")
    return text.rstrip("/")


def _endpoint_headers(text: str) -> Mapping[str, Mapping[str, str]]:
    wanted = ValueError('JSON such as {"verify": {"Authorization": "Bearer ..."}}, for verify, settle and supported')
    try:
        found = json.loads(text or "{}")
    except ValueError:
        # Not what was found: it may hold a secret.
        raise wanted from None
    if not isinstance(found, dict) or not set(found) <= {"verify", "settle", "supported"}:
        raise wanted
    for headers in found.values():
        if not isinstance(headers, dict):
            raise wanted
        for name, value in headers.items():
            if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not isinstance(value, str) or not value.isprintable():
                raise wanted
    return found


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= MAX_TIMEOUT_S:
        raise ValueError(f"a number of seconds from 0.1 to {MAX_TIMEOUT_S}")
    return seconds


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(part.strip() for part in text.split(",") if part.strip())
    for origin in origins:
        if not re.fullmatch(r"https?://[^/?#@\s]+", origin):
            raise ValueError("origins such as https://app.example.com, separated by commas")
    return origins


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError("IP addresses or networks such as 10.0.0.0/8, separated by commas") from None


def _database_url(text: str) -> str:
    if text.startswith("postgresql://"):
        try:
            _ = urlsplit(text).port
        except ValueError:
            raise ValueError("postgresql://USER:PASSWORD@HOST:PORT/NAME with a port number") from None
        return text
    if not text.startswith("sqlite:///") or text == "sqlite:///":
        raise ValueError("sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME")
    return text


def _workers(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_WORKERS:
        raise ValueError(f"a whole number from 1 to {MAX_WORKERS}")
    return int(text)


def _token(text: str) -> str:
    if text and (len(text) < 16 or not text.isascii() or not text.isprintable() or " " in text):
        raise ValueError("at least 16 printable ASCII characters without spaces")
    return text


def _signing_key(text: str) -> str:
    pem = _pem(text)
    if pem:
        keys.private_key(pem)
    return pem


def _listed_keys(text: str) -> str:
    parts = [text] if _PEM_BEGINS in text else [part.strip() for part in text.split(",") if part.strip()]
    pems = "\n".join(_pem(part) for part in parts)
    keys.public_keys(pems)
    return pems


def _pem(text: str) -> str:
    """The PEM in `text`, whose line breaks may be written as \\n, or in the file that it names. A fault never repeats
    the text: it may be a key."""
    if not text or _PEM_BEGINS in text:
        return text.replace("\\n", "\n")
    try:
        return Path(text).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not text"
        raise ValueError(f"PEM, or the path of a file with it that can be read ({why})") from None


def _api_key(text: str) -> str:
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("printable ASCII characters without spaces")
    return text


def _model_name(text: str) -> str:
    if len(text) > 200 or not text.isprintable() or " " in text:
        raise ValueError("the name of a model, such as openai/gpt-oss-120b")
    return text


def _switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("1 (on) or 0 (off)")
    return text == "1"


def _log_level(text: str) -> int:
    level = logging.getLevelNamesMapping().get(text.upper())
    if level is None:
        raise ValueError("debug, info, warning or error")
    return level


SETTINGS = (
    Setting("HOST", "127.0.0.1", str, "Address to listen on."),
    Setting("PORT", "8000", _port, "Port to listen on."),
    Setting("WORKERS", "1", _workers, "Processes that serve. More than one want PostgreSQL."),
    Setting(
        "PUBLIC_BASE_URL",
        "",
        _base_url,
        "Base of every absolute URL, for the build and the server alike. Unset: the one in content/site.yaml.",
    ),
    Setting(
        "DATABASE_URL",
        "sqlite:///var/screwtape.db",
        _database_url,
        "Where everything is stored: `sqlite:///PATH`, or `postgresql://USER:PASSWORD@HOST/NAME` for many nodes.",
    ),
    Setting(
        "ADMIN_TOKEN",
        "",
        _token,
        "Bearer token of the operator's routes (`/v1/admin/*`) and of `/metrics`. Unset: they don't exist.",
    ),
    Setting(
        "SECRET_KEY",
        "",
        str,
        "Key for keyed hashes of what must not be stored. Unset: made once and kept beside the SQLite file. "
        "Required with PostgreSQL, the same on every node.",
    ),
    Setting("ALLOWED_ORIGINS", "", _origins, "Browser origins allowed beyond the site's own, separated by commas."),
    Setting(
        "TRUSTED_PROXIES",
        "",
        _networks,
        "Addresses whose X-Forwarded-For is believed, separated by commas. Unset: none.",
    ),
    Setting(
        "STRIPE_SECRET_KEY",
        "",
        str,
        "Stripe's secret key, of its test mode (`sk_test_...`). With another one, or none, no packs are sold.",
    ),
    Setting(
        "STRIPE_WEBHOOK_SECRET",
        "",
        str,
        "The signing secret (`whsec_...`) of the webhook at `/v1/billing/webhook`. Without it no packs are sold.",
    ),
    Setting("STRIPE_API_BASE", "https://api.stripe.com", _base_url, "Where Stripe's API is. For tests."),
    Setting(
        "X402_FACILITATOR_URL",
        "",
        _service_url,
        "The x402 facilitator that verifies and settles payments. Unset: none are taken.",
    ),
    Setting(
        "X402_FACILITATOR_HEADERS",
        "",
        _endpoint_headers,
        'Extra headers for the facilitator, as JSON: `{"verify": {"Authorization": "..."}, "settle": {...}}`.',
    ),
    Setting("X402_TIMEOUT_S", "30", _seconds, "Seconds that one answer of the facilitator may take."),
    Setting(
        "RECEIPT_SIGNING_KEY",
        "",
        _signing_key,
        "Ed25519 private key that signs receipts, PEM or the path of a file with it. Unset: answers carry no receipts.",
    ),
    Setting(
        "RECEIPT_RETIRED_KEYS",
        "",
        _listed_keys,
        "Ed25519 public keys that are listed beside it, so that their receipts still verify: PEM blocks one after the "
        "other, or paths of files with them, separated by commas.",
    ),
    Setting(
        "LLM_API_KEY",
        "",
        _api_key,
        "Key of an OpenAI-compatible service. Turns the LLM engine on; a service without keys takes any text.",
    ),
    Setting(
        "LLM_BASE_URL", "https://openrouter.ai/api/v1", _service_url, "Where its `/chat/completions` is, without that."
    ),
    Setting("LLM_MODEL", "", _model_name, "The model that is asked. Unset: the default in content/site.yaml."),
    Setting(
        "LLM_FALLBACK_MODEL",
        "",
        _model_name,
        "Asked once when the model answers 404 or 5xx. Unset: the fallback in content/site.yaml. "
        "Set to the same model: none.",
    ),
    Setting(
        "LLM_TIMEOUT_S",
        "30",
        _seconds,
        "Seconds that one answer of a model may take, 45 at most: two of them and 10 s are what an x402 payment must "
        "have left.",
    ),
    Setting(
        "LLM_JSON_MODE",
        "1",
        _switch,
        "1 asks for JSON by `response_format`. 0 for a service that refuses that field.",
    ),
    Setting("SIGNUPS_PER_HOUR", "10", _count, "Keys that one client address can make within an hour. 0: no limit."),
    Setting(
        "KEY_REQUESTS_PER_SECOND",
        "50",
        _count,
        "Requests a second of one key, with bursts of four times as many. 0: no limit.",
    ),
    Setting(
        "CLIENT_TIMEOUT_S",
        "15",
        _seconds,
        "Seconds that a client may take to send a request's head, again for its body, and again to take the answer.",
    ),
    Setting(
        "MAX_CONNECTIONS",
        "10000",
        _connections,
        "Connections that one process serves at once, fewer where the system allows fewer open files. More get a 503.",
    ),
    Setting(
        "WEBHOOK_ALLOW_PRIVATE",
        "0",
        _flag,
        "1: alerts may also go to plain http and loopback addresses. For tests only.",
    ),
    Setting("LOG_LEVEL", "info", _log_level, "debug, info, warning or error. Logs are JSON lines on standard error."),
)


def from_env(environ: Mapping[str, str], dotenv: Path | None = None) -> Config:
    """Reads every setting; `environ` wins over the `.env` file. Raises ConfigFaults with all faults at once."""
    beneath = dotenv_values(dotenv) if dotenv is not None and dotenv.is_file() else {}
    values: dict[str, Any] = {}
    faults: list[str] = []
    for setting in SETTINGS:
        text = environ.get(setting.name) or beneath.get(setting.name) or setting.default
        try:
            values[setting.name.lower()] = setting.read(text.strip())
        except ValueError as error:
            faults.append(f"{setting.name} must be {error}.")
    if values.get("database_url", "").startswith("postgresql://") and not values.get("secret_key"):
        faults.append("SECRET_KEY must be set with PostgreSQL, to the same random text on every node.")
    margin_s = MARGIN_S + 2 * values.get("llm_timeout_s", 0)
    if values.get("llm_api_key") and margin_s > MAX_MARGIN_S:
        longest = (MAX_MARGIN_S - MARGIN_S) // 2
        faults.append(
            f"LLM_TIMEOUT_S must be {longest} at most: an x402 payment must have twice that and {MARGIN_S} s left, and "
            f"{MAX_MARGIN_S} s is all that can be asked of it."
        )
    if faults:
        raise ConfigFaults(faults)
    return Config(**values)


def settings_table() -> str:
    """The Markdown table of all settings, for README and the docs."""
    rows = [f"| {s.name} | {s.default or '(none)'} | {s.meaning} |" for s in SETTINGS]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])
