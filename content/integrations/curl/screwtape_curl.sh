#!/bin/sh
# Judges one output and scores one consensus with Screwtape.ai.
set -eu

if [ -z "${SCREWTAPE_API_KEY:-}" ]; then
  echo "SCREWTAPE_API_KEY is not set. Get one: ${SCREWTAPE_BASE_URL:-https://screwtape.ai}/signup" >&2
  exit 1
fi

# The key goes in by standard input, so that it does not show in the list of processes.
post() {
  printf 'Authorization: Bearer %s\n' "$SCREWTAPE_API_KEY" |
    curl --silent --show-error --fail-with-body --max-time 30 \
      --header @- --header 'Content-Type: application/json' \
      --data "$2" "${SCREWTAPE_BASE_URL:-https://screwtape.ai}$1"
  echo
}

post /v1/judge '{
  "task": "State the crew size and launch site.",
  "agent_output": "The crew size was 4. The mission launched from Cape Canaveral.",
  "evidence": [
    "The mission launched on 2024-03-01 from Cape Canaveral.",
    "The crew size was 4."
  ],
  "criteria": ["crew size", "Cape Canaveral"]
}'

post /v1/consensus '{
  "task": "State the crew size.",
  "answers": [
    {"agent_id": "alpha", "output": "The crew size was 4."},
    {"agent_id": "beta", "output": "The crew size was 4."},
    {"agent_id": "gamma", "output": "The crew size was 4."}
  ]
}'
