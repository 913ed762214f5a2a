"""Pure. Examples of one operation: its request, its real response, and the call in curl, Python and JavaScript."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from api.contract import Contract, Operation, tools
from api.core import webhooks
from api.core.mcp.messages import response
from site_build.layout import as_javascript, as_json, as_python

KEY_VARIABLE = "SCREWTAPE_API_KEY"


def computed_results(contract: Contract) -> dict[str, Any]:
    """The 200 bodies of the operations whose answer depends on the request alone, by operation id."""
    from site_build.engines import answered, consensus_result, judge_result  # the engines take long to import

    computed: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
        "judge": judge_result,
        "consensus": consensus_result,
    }
    found = {
        id: answered(compute(contract.operations[id].example))
        for id, compute in computed.items()
        if id in contract.operations and fits(contract.operations[id])
    }
    if "mcp" in contract.operations:
        request = contract.operations["mcp"].example
        found["mcp"] = response(request["id"], {"tools": list(tools(contract).values())})
    return found


def webhook_delivery(contract: Contract) -> str:
    """The POST that delivers the alert of the contract's example, at the time of its making and signed with the example
    of a webhook's secret."""
    settings, alerts = (success(contract.operations[id])[1] for id in ("update_settings", "list_alerts"))
    secret = _example(settings)["alert_webhook_secret"]
    url = urlsplit(_example(settings)["alert_webhook_url"])
    alert = {name: value for name, value in _example(alerts)["data"][0].items() if name != "delivery"}
    text = webhooks.canonical(alert)
    now = int(datetime.fromisoformat(alert["created_at"]).timestamp())
    headers = {"Host": url.netloc, **webhooks.headers(alert["id"], text.encode(), secret, now)}
    lines = [f"POST {url.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\n".join([*lines, "", text])


def _example(response: Mapping[str, Any]) -> Any:
    return response["content"]["application/json"]["example"]


def fits(operation: Operation) -> bool:
    """Whether the example of the request, if there is one, is a body that the operation takes."""
    return operation.body is None or not operation.body.faults(operation.example)


def success(operation: Operation) -> tuple[str, Mapping[str, Any]]:
    """The first 2xx status of an operation, and its response."""
    return next((status, response) for status, response in operation.spec["responses"].items() if status[0] == "2")


def response_example(operation: Operation, results: Mapping[str, Any]) -> Any:
    """The computed body, else the contract's example, else None."""
    if operation.id in results:
        return results[operation.id]
    media = success(operation)[1].get("content", {}).get("application/json", {})
    return media.get("example")


def example_path(operation: Operation) -> str:
    """The path with its parts filled in: a part's example, else its name in capitals."""
    path = operation.path
    for parameter in operation.spec.get("parameters", ()):
        if parameter.get("in") == "path":
            value = parameter.get("example") or next(
                iter(parameter["schema"].get("examples", ())), parameter["name"].upper()
            )
            path = path.replace(f"{{{parameter['name']}}}", str(value))
    return path


def curl(operation: Operation, base_url: str) -> str:
    """A POSIX shell command. The key stays in the environment."""
    lines = [
        "curl" if operation.method == "GET" else f"curl -X {operation.method}",
        f" {base_url}{example_path(operation)}",
    ]
    parts = ["".join(lines)]
    if operation.auth != "none":
        parts.append(f'-H "Authorization: Bearer ${KEY_VARIABLE}"')
    if operation.body:
        parts.append('-H "Content-Type: application/json"')
        quoted = as_json(operation.example).replace("'", "'\\''")
        parts.append(f"-d '{quoted}'")
    return " \\\n  ".join(parts)


def python(operation: Operation, base_url: str) -> str:
    """A script for Python's standard library."""
    imports = ["json"] + ["os"] * (operation.auth != "none") + ["urllib.request"]
    lines = [f"import {name}" for name in imports]
    lines += [
        "",
        "request = urllib.request.Request(",
        f'    "{base_url}{example_path(operation)}",',
        f'    method="{operation.method}",',
    ]
    headers = _headers(operation, f'"Bearer " + os.environ["{KEY_VARIABLE}"]')
    if headers:
        lines += ["    headers={", *(f'        "{name}": {value},' for name, value in headers), "    },"]
    if operation.body:
        lines.append(f"    data=json.dumps({as_python(operation.example, '    ')}).encode(),")
    lines += [")", "with urllib.request.urlopen(request, timeout=30) as response:", "    print(json.load(response))"]
    return "\n".join(lines)


def javascript(operation: Operation, base_url: str) -> str:
    """A module for Node.js or any other run time with fetch."""
    lines = [
        f'const response = await fetch("{base_url}{example_path(operation)}", {{',
        f'  method: "{operation.method}",',
    ]
    headers = _headers(operation, f"`Bearer ${{process.env.{KEY_VARIABLE}}}`")
    if headers:
        lines += ["  headers: {", *(f"    {_bare(name)}: {value}," for name, value in headers), "  },"]
    if operation.body:
        lines.append(f"  body: JSON.stringify({as_javascript(operation.example, '  ')}),")
    lines += ["});", "if (!response.ok) throw new Error(await response.text());", "console.log(await response.json());"]
    return "\n".join(lines)


def _headers(operation: Operation, bearer: str) -> list[tuple[str, str]]:
    headers = [("Authorization", bearer)] if operation.auth != "none" else []
    return [*headers, ("Content-Type", '"application/json"')] if operation.body else headers


def _bare(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


LANGUAGES: Mapping[str, tuple[str, str, Callable[[Operation, str], str]]] = {
    "curl": ("curl", "sh", curl),
    "python": ("Python", "python", python),
    "javascript": ("JavaScript", "js", javascript),
}
"""By name: what readers call it, the language of the fence, the maker."""
