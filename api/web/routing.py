"""From a path to the operations on it. Made from the contract, so a path there answers here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from api.contract import Contract, Operation


@dataclass(frozen=True, slots=True)
class Route:
    """The operations on one path, by method, and the values of the path's `{name}` parts."""

    operations: Mapping[str, Operation]
    values: Mapping[str, str]

    @property
    def methods(self) -> list[str]:
        """What the path answers, HEAD and OPTIONS included."""
        names = list(self.operations)
        if "GET" in names:
            names.insert(names.index("GET") + 1, "HEAD")
        return [*names, "OPTIONS"]

    def operation(self, method: str) -> Operation | None:
        """The operation for `method`; HEAD is answered as GET without its body."""
        return self.operations.get("GET" if method == "HEAD" else method)


class Router:
    """Finds routes: fixed paths by a look-up, paths with values by their patterns."""

    def __init__(self, contract: Contract) -> None:
        by_path: dict[str, dict[str, Operation]] = {}
        for operation in contract.operations.values():
            by_path.setdefault(operation.path, {})[operation.method] = operation
        self._fixed = {path: Route(operations, {}) for path, operations in by_path.items() if "{" not in path}
        self._patterns = [(_pattern(path), operations) for path, operations in by_path.items() if "{" in path]

    def find(self, path: str) -> Route | None:
        """The route of a percent-encoded path, or None."""
        route = self._fixed.get(path)
        if route is not None:
            return route
        for pattern, operations in self._patterns:
            if match := pattern.fullmatch(path):
                values = {name: unquote(value) for name, value in match.groupdict().items()}
                # What can't be printed names nothing, and PostgreSQL can't even look for a NUL.
                return Route(operations, values) if all(map(str.isprintable, values.values())) else None
        return None


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path)))
