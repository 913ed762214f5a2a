"""The numbers and names that the API and the site share: content/plans.yaml and content/site.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.yamlfile import read_file


@dataclass(frozen=True, slots=True)
class Pack:
    """Prepaid calls. `price_cents` is in hundredths of `currency` (ISO 4217, lower case)."""

    id: str
    price_cents: int
    currency: str
    calls: int


@dataclass(frozen=True, slots=True)
class X402Terms:
    """What a keyless call costs. `amount` is in atomic units of `asset`; `network` is a CAIP-2 id."""

    price_usd: str
    amount: str
    network: str
    network_name: str
    asset: str
    asset_symbol: str
    asset_name: str
    asset_version: str
    pay_to: str
    max_timeout_seconds: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything of plans.yaml and site.yaml that code decides by. `site` is the rest of site.yaml, for templates."""

    name: str
    base_url: str
    origins: tuple[str, ...]
    default_model: str
    fallback_model: str
    service_name: str
    service_tags: tuple[str, ...]
    free_calls_per_day: int
    keys_per_email: int
    packs: tuple[Pack, ...]
    x402: X402Terms
    retention_hours: int
    site: Mapping[str, Any]


def load(content: Path) -> Facts:
    """Reads both files below `content`. Raises YamlFault, KeyError or TypeError when one is not as it should be."""
    plans, site = read_file(content / "plans.yaml"), read_file(content / "site.yaml")
    return Facts(
        name=site["name"],
        base_url=site["base_url"],
        origins=tuple(site["origins"]),
        default_model=site["models"]["default"],
        fallback_model=site["models"]["fallback"],
        service_name=site["service_name"],
        service_tags=tuple(site["service_tags"]),
        free_calls_per_day=plans["free"]["calls_per_day"],
        keys_per_email=plans["free"]["keys_per_email"],
        packs=tuple(Pack(**pack) for pack in plans["packs"]),
        x402=X402Terms(**plans["x402"]),
        retention_hours=plans["retention"]["hours"],
        site=site,
    )
