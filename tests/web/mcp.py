"""An MCP client for tests that sends what it is told to."""

from typing import Any

from api.core.mcp.eras import CAPABILITIES_KEY, VERSION_KEY
from tests.examples import example
from tests.live import Answer, Live
from tests.problem_checks import the_problems

NOW = "2026-07-28"
Json = dict[str, Any]


def rpc(
    live: Live,
    method: str,
    params: Json | None = None,
    *,
    key: str | None = None,
    path: str = "/mcp",
    id: Any = 1,
    **headers: str,
) -> Answer:
    """One legacy request. Underscores in the names of `headers` stand for hyphens."""
    body = {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params})
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = live.request("POST", path, body, key=key, headers=sent)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] in ("no-store", "private")
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.json["jsonrpc"] == "2.0"
    assert answer.json["id"] == id
    assert ("result" in answer.json) != ("error" in answer.json)
    return answer


def modern(live: Live, method: str, params: Json | None = None, **more: Any) -> Answer:
    """One request of 2026-07-28 with all that it needs."""
    meta = {VERSION_KEY: NOW, CAPABILITIES_KEY: {}, **(params or {}).get("_meta", {})}
    name = {"Mcp_Name": str(params["name"])} if params and "name" in params else {}
    headers = {"MCP_Protocol_Version": NOW, "Mcp_Method": method, **name}
    return rpc(live, method, {**(params or {}), "_meta": meta}, **{**headers, **more})


def call(live: Live, tool: str = "judge", arguments: Any = None, **more: Any) -> Answer:
    """One tools/call, with the operation's example unless there are `arguments`."""
    meta = {"_meta": more.pop("meta")} if "meta" in more else {}
    arguments = example(tool) if arguments is None else arguments
    return rpc(live, "tools/call", {"name": tool, "arguments": arguments, **meta}, **more)


def assert_rpc_problem(answer: Answer, code: str, status: int | None = None) -> None:
    """Fails unless `answer` is a JSON-RPC error that carries the problem `code` in data."""
    kind = the_problems().kinds[code]
    assert answer.status == (kind.status if status is None else status), answer
    assert answer.headers["content-type"] == "application/json"
    error = answer.json["error"]
    assert error["code"] == kind.mcp
    assert error["message"] == error["data"]["detail"]
    assert (error["data"]["code"], error["data"]["status"], error["data"]["title"]) == (code, kind.status, kind.title)
    assert error["data"]["request_id"] == answer.headers["x-request-id"]
    for name in kind.headers:
        assert name.lower() in answer.headers, (code, name)
