#!/bin/sh
# Says whether a delivery was signed with your secret. BODY is a file with the raw body, byte for byte.
#
#     SCREWTAPE_WEBHOOK_SECRET=whsec_... sh verify_alert.sh BODY SIGNATURE
set -eu
: "${SCREWTAPE_WEBHOOK_SECRET:?is not set}"

expected=$(openssl dgst -sha256 -hmac "$SCREWTAPE_WEBHOOK_SECRET" -binary "$1" | base64 | tr '+/' '-_' | tr -d '=')
if [ "$expected" = "$2" ]; then
    echo "signed"
else
    echo "not signed with this secret" >&2
    exit 1
fi
