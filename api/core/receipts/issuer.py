"""Pure. Who issues the receipts: an address, the key that signs now, and the keys that are listed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from api.core.receipts import keys
from api.core.receipts.receipt import PaidBy, statement
from api.core.receipts.signing import Signer, refusal


@dataclass(frozen=True, slots=True)
class Issuer:
    """`url` is the public base URL. `signer` None: no receipts are issued. `keys` are all listed public keys by kid,
    the signing one first."""

    url: str
    signer: Signer | None
    keys: Mapping[str, Ed25519PublicKey]

    @classmethod
    def of(cls, url: str, signing_pem: str, retired_pems: str) -> "Issuer":
        """The issuer with a private key, "" for none, and further public keys to list. Raises keys.NoKey."""
        signing = keys.private_key(signing_pem) if signing_pem else None
        listed = [signing.public_key()] if signing else []
        listed += keys.public_keys(retired_pems)
        return cls(url, Signer.of(signing) if signing else None, {keys.thumbprint(key): key for key in listed})

    def with_receipt(
        self,
        endpoint: str,
        request: Mapping[str, Any],
        response: dict[str, Any],
        issued_at: float,
        payment: PaidBy | None,
    ) -> dict[str, Any]:
        """The response with its receipt as the last field; the response itself when none are issued."""
        if self.signer is None:
            return response
        content = statement(
            issuer=self.url,
            endpoint=endpoint,
            request=request,
            response=response,
            issued_at=issued_at,
            payment=payment,
        )
        return {**response, "receipt": self.signer.sign(content)}

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """What /.well-known/jwks.json says. Without any key the list is empty: no receipt of this issuer is valid."""
        return keys.jwks(self.keys.values())

    def refusal(self, receipt: Any) -> str | None:
        """Why `receipt` is not a valid one of this issuer, a code of signing.REASONS; None when it is."""
        return refusal(receipt, self.url, self.keys)
