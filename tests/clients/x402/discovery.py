"""What the official package makes of an offer: run with the environment of these tests.

    python discovery.py DOCUMENT

DOCUMENT is what a facilitator is sent. Prints, as JSON, what a facilitator would list and what it finds wrong.
"""

import json
import sys

# mypy runs without the packages of this environment, hence the comments.
from x402.extensions.bazaar import extract_discovery_info  # type: ignore[import-not-found]
from x402.extensions.bazaar.facilitator import validate_discovery_extension_spec  # type: ignore[import-not-found]
from x402.extensions.payment_identifier import (  # type: ignore[import-not-found]
    append_payment_identifier_to_extensions,
    validate_payment_identifier,
)

if __name__ == "__main__":
    document = json.loads(sys.argv[1])
    payload = document["paymentPayload"]
    found = extract_discovery_info(payload, document["paymentRequirements"])
    named = append_payment_identifier_to_extensions(payload["extensions"])["payment-identifier"]
    print(
        json.dumps(
            {
                "url": found.resource_url,
                "method": getattr(found, "tool_name", None) or found.method,
                "faults": validate_discovery_extension_spec(payload["extensions"]["bazaar"]).errors or [],
                "identifier": named["info"]["id"],
                "identifier_faults": validate_payment_identifier(named).errors or [],
            }
        )
    )
