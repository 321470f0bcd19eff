"""Accept how the messages read now: what `make messages` runs."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SNAPSHOTS = HERE / "__snapshots__"


def main() -> int:
    status = subprocess.call([sys.executable, "-m", "pytest", "-q", HERE, "--snapshot-update"])
    if git := shutil.which("git"):
        subprocess.call([git, "--no-pager", "diff", "--stat", "--", SNAPSHOTS])
        subprocess.call([git, "ls-files", "--others", "--exclude-standard", "--", SNAPSHOTS])
    print(f"Read how they read now, then commit:  git diff {SNAPSHOTS.relative_to(Path.cwd())}")
    return status


if __name__ == "__main__":
    sys.exit(main())
