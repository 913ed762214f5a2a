"""Which part of the code may import which: read from the source, imports inside functions included."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.examples import ROOT

OURS = ("api", "site_build", "tests")
READERS = ("api.contract", "api.problems", "api.openapi", "api.yamlfile", "api.facts", "api.prompts")

ALLOWED: dict[str, tuple[str, ...]] = {
    "api.core": ("api.core",),
    "api.yamlfile": (),
    "api.problems": READERS,
    "api.contract": READERS,
    "api.openapi": READERS,
    "api.facts": READERS,
    "api.prompts": READERS,
    "api.logs": (),
    "api.config": ("api.core",),
    "api.store": ("api.store", "api.core"),
    "api.clients": ("api.clients", "api.core"),
    "api.service": ("api.service", "api.core", "api.store", "api.clients.ports", *READERS),
    "api.web": ("api.web", "api.service", "api.core", *READERS),
    "api.jobs": ("api.service", "api.core", "api.store", "api.clients.ports", *READERS),
    "api.app": ("api",),
    "api.supervisor": ("api",),
    "api.commands": ("api",),
    "api.__main__": ("api",),
    "api": (),
    "site_build": ("site_build", "api.core", *READERS),
}
"""Our own packages that each part may import; the longest name that fits decides. Nothing here may import tests."""

THIRD_PARTIES_OF_READERS = ("yaml", "jsonschema_rs")
TORNADO = ("api.web", "api.clients", "api.app")
ENVIRONMENT = ("api.config", "api.app", "api.__main__")
IMPURE = ("asyncio", "time", "os", "random", "socket", "secrets", "threading", "subprocess", "logging")


@dataclass(frozen=True)
class Module:
    """One source file. `imports` holds what it imports, as dotted names, with the line."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[tuple[str, int], ...]


def _modules() -> list[Module]:
    found = []
    for package in ("api", "site_build"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found.append(Module(name, path, tree, tuple(_imports(tree, name, is_package))))
    return found


def _imports(tree: ast.Module, name: str, is_package: bool) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, name, is_package)
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def _base(node: ast.ImportFrom, name: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    package = name.split(".") if is_package else name.split(".")[:-1]
    above = package[: len(package) - (node.level - 1)]
    return ".".join([*above, *([node.module] if node.module else [])])


def within(name: str, packages: tuple[str, ...]) -> bool:
    """Whether the dotted name is one of the packages or lies below one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def layer_of(name: str) -> str:
    """The entry of ALLOWED that decides about a module."""
    return max((layer for layer in ALLOWED if within(name, (layer,))), key=len)


MODULES = _modules()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_imports_only_what_its_layer_may(module: Module) -> None:
    allowed = ALLOWED[layer_of(module.name)]
    for imported, line in module.imports:
        if within(imported, OURS):
            assert within(imported, allowed) or _is_member_of(imported, allowed), (
                f"{module.path}:{line} imports {imported}"
            )


def _is_member_of(imported: str, allowed: tuple[str, ...]) -> bool:
    """`from api import contract` is read as api.contract, so only `import api` alone needs this."""
    return imported == "api" and "api" in allowed


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_tornado_is_seen_in_the_outer_layers_only(module: Module) -> None:
    if not within(module.name, TORNADO):
        assert not [line for imported, line in module.imports if within(imported, ("tornado",))]


@pytest.mark.parametrize("module", [m for m in MODULES if m.name in READERS], ids=lambda module: module.name)
def test_the_readers_of_content_need_yaml_and_jsonschema_only(module: Module) -> None:
    for imported, line in module.imports:
        top = imported.partition(".")[0]
        known = top in OURS or top in THIRD_PARTIES_OF_READERS or top in sys.stdlib_module_names
        assert known, f"{module.path}:{line} imports {imported}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_only_the_configuration_and_the_entry_points_see_the_environment(module: Module) -> None:
    if module.name in ENVIRONMENT or within(module.name, ("site_build.__main__", "site_build.dev")):
        return
    touched = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "putenv") and _is_os(node.value)
    ]
    assert not touched
    assert not [line for imported, line in module.imports if imported in ("os.environ", "os.getenv")]


def _is_os(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "os"


@pytest.mark.parametrize(
    "module", [m for m in MODULES if within(m.name, ("api.core",))], ids=lambda module: module.name
)
def test_the_core_is_pure(module: Module) -> None:
    """No clock, environment, randomness, network or coroutine; files are not opened either."""
    for imported, line in module.imports:
        assert not within(imported, IMPURE), f"{module.path}:{line} imports {imported}"
    for node in ast.walk(module.tree):
        assert not isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith), module.path
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in ("open", "print", "input", "datetime.now", "datetime.utcnow"), (
                f"{module.path}:{node.lineno}"
            )


@pytest.mark.parametrize(
    "module", [m for m in MODULES if within(m.name, ("api.core",))], ids=lambda module: module.name
)
def test_a_pure_module_says_so_first(module: Module) -> None:
    first_line = (ast.get_docstring(module.tree) or "").partition("\n")[0]
    assert first_line.startswith("Pure"), module.path


def test_the_layer_rules_can_fail() -> None:
    tree = ast.parse("from ..web import endpoint\nfrom . import keys\nimport api.app")
    assert [name for name, _ in _imports(tree, "api.service.judge", is_package=False)] == [
        "api.web.endpoint",
        "api.service.keys",
        "api.app",
    ]
    assert not within("api.webhooks", ("api.web",))
    assert layer_of("api.web.endpoint") == "api.web"
    assert layer_of("api.jobs") == "api.jobs"
