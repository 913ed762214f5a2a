"""Tools that need an environment of their own, made once below .cache and again when their pins change."""

import hashlib
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.examples import ROOT

PINS = Path(__file__).parent / "pins"
INSTALL_TIMEOUT_S = 900


@cache
def python(tool: str) -> Path:
    """The interpreter that has what pins/TOOL.txt lists."""
    home, pins = ROOT / ".cache" / "venvs" / tool, PINS / f"{tool}.txt"
    interpreter, stamp = home / "bin" / "python", home / "installed"
    wanted = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        pip = [str(interpreter), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes"]
        for command in ([sys.executable, "-m", "venv", "--clear", str(home)], [*pip, "-r", str(pins)]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        stamp.write_text(wanted)
    return interpreter
