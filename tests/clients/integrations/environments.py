"""One environment per integration below .cache/venvs, made once and again when its meta.yaml changes: a virtual one of
Python, or a folder with the packages of npm."""

import hashlib
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
CONTENT = ROOT / "content"
VENVS = ROOT / ".cache" / "venvs"
INSTALL_TIMEOUT_S = 1200


@dataclass(frozen=True, slots=True)
class Integration:
    """A directory of content/integrations. `install` holds shell lines of the form `pip install REQUIREMENT...`
    or `npm install PACKAGE...`."""

    name: str
    file: Path
    language: str
    install: tuple[str, ...]


def integrations() -> list[Integration]:
    """All of them, by name."""
    found = []
    for meta_file in sorted(CONTENT.glob("integrations/*/meta.yaml")):
        meta = yaml.safe_load(meta_file.read_text())
        file = meta_file.parent / meta["file"]
        found.append(Integration(meta_file.parent.name, file, meta["language"], tuple(meta.get("install", ()))))
    return found


def command(integration: Integration) -> list[str]:
    """What runs the integration's file. Makes its environment first when it is missing or out of date."""
    if integration.language == "sh":
        return ["sh", str(integration.file)]
    if integration.language == "javascript":
        # Node looks for packages from where the file lies.
        return ["node", str(shutil.copy(integration.file, _packages(integration)))]
    return [str(_environment(integration)), str(integration.file)]


def _environment(integration: Integration) -> Path:
    """The interpreter of the integration's environment, with the packages that the page tells readers to install."""
    requirements = [word for line in integration.install for word in _requirements(line, "pip")]
    wanted = hashlib.sha256(repr((sys.version, requirements)).encode()).hexdigest()
    home = VENVS / integration.name
    stamp, python = home / "installed", home / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements])
        stamp.write_text(wanted)
    return python


def _packages(integration: Integration) -> Path:
    """The folder whose node_modules has the packages that the page tells readers to install."""
    requirements = [word for line in integration.install for word in _requirements(line, "npm")]
    home = VENVS / integration.name
    stamp = home / "installed"
    if not stamp.exists() or stamp.read_text() != repr(requirements):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        _run(["npm", "install", "--prefix", str(home), "--ignore-scripts", "--no-audit", "--no-fund", *requirements])
        stamp.write_text(repr(requirements))
    return home


def _requirements(line: str, installer: str) -> list[str]:
    words = shlex.split(line)
    if words[:2] != [installer, "install"]:
        raise ValueError(f"an install line must begin with {installer} install: {line}")
    return words[2:]


def _run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)} failed:\n{done.stdout}{done.stderr}")
