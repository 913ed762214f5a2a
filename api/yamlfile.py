"""Reads YAML files strictly: a duplicate key is an error, and every error says file:line:column."""

from pathlib import Path
from typing import Any

import yaml


class YamlFault(ValueError):
    """A YAML text is broken. `line` and `column` count from 1; the message begins with `file:line:column`."""

    def __init__(self, name: str, line: int, column: int, what: str) -> None:
        super().__init__(f"{name}:{line}:{column}: {what}")
        self.line, self.column, self.what = line, column, what


class _StrictLoader(yaml.CSafeLoader):
    """CSafeLoader (eight times as fast as SafeLoader) that refuses duplicate keys and leaves dates as text.

    A YAML date would come back as an object of Python's; every reader of ours wants the text that was written.
    """


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
        seen.add(key)
    loader.flatten_mapping(node)
    return {loader.construct_object(k, deep=True): loader.construct_object(v, deep=True) for k, v in node.value}


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_text(text: str, name: str, first_line: int = 1) -> Any:
    """The value of a YAML text. `first_line` is where the text begins in the file `name`. Raises YamlFault."""
    try:
        return yaml.load(text, _StrictLoader)  # noqa: S506 - a subclass of CSafeLoader makes no objects
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        raise YamlFault(name, line + first_line, column + 1, error.problem or "not YAML") from None
    except yaml.YAMLError as error:
        raise YamlFault(name, first_line, 1, str(error)) from None


def read_file(path: Path) -> Any:
    """The value of the YAML file at `path`. Raises YamlFault, or OSError when it can't be read."""
    return read_text(path.read_text(encoding="utf-8"), str(path))
