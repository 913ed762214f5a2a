"""Makes sure that chromium is there: `python -m tests.browser.setup` installs Debian's when it may, else says what
is missing."""

import os
import shutil
import subprocess
import sys

PACKAGE = "chromium"


def main() -> int:
    """Exit status 0 when there is a chromium."""
    if shutil.which("chromium"):
        return 0
    if os.geteuid() or shutil.which("apt-get") is None:
        print(f"{PACKAGE} is missing. Install it: sudo apt-get install {PACKAGE}", file=sys.stderr)
        return 1
    print(f"{PACKAGE} is missing; installing it", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", PACKAGE]):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
