"""A PostgreSQL server of our own: made in a folder, never run as root, stopped when done."""

import os
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

SETTINGS = "-c listen_addresses='' -c fsync=off -c max_connections=20"


def find_programs() -> Path | None:
    """Where PostgreSQL's programs are; Debian puts only some on the path."""
    on_path = shutil.which("createdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if debian:
        return debian[-1]
    return Path(on_path).resolve().parent if on_path else None


class Server:
    """Reached through a socket in its folder, so that it takes no port."""

    def __init__(self, programs: Path):
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._names = (f"gradebook_{number}" for number in count())
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        self._run("initdb", "-D", self.data, "-U", "course", "--auth=trust", "-E", "UTF8")
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        options = f"{SETTINGS} -c unix_socket_directories={self.folder}"
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", "-D", self.data, "-l", log, "-o", options)

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", mode, "-D", self.data)

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def copy_of(self, template: str) -> str:
        """The address of a new database like this one."""
        name = next(self._names)
        self._run("createdb", "-h", self.folder, "-U", "course", "-T", template, name)
        return self.address(name)

    def address(self, name: str) -> str:
        return f"postgresql+psycopg://course@/{name}?host={self.folder}"

    def _run(self, program: str, *arguments: object) -> None:
        done = subprocess.run(
            [self.programs / program, *map(str, arguments)],
            user="nobody" if os.geteuid() == 0 else None,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # not a pipe: the server would keep it open
            stderr=subprocess.DEVNULL,
        )
        log = self.folder / "log"
        said = log.read_text()[-2000:] if done.returncode and log.is_file() else ""
        assert done.returncode == 0, f"{program} gave {done.returncode}: {said}"
