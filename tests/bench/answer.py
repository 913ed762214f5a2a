"""The call that everything in the bench answers: the contract's consensus example, with the answer that the API
gives."""

import json

from api.core.consensus import Answer, consensus
from api.openapi import EXAMPLE_REQUEST_ID
from tests.examples import example

REQUEST = json.dumps(example("consensus"))
_RESULT = consensus([Answer(**answer) for answer in example("consensus")["answers"]]).as_dict()
ANSWER = json.dumps({**_RESULT, "request_id": EXAMPLE_REQUEST_ID, "retention": {"retained": False}})
