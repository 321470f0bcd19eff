"""An example: one machine, its own users, one course. Type  jupyterhub -f jupyterhub_config.py

Students get JupyterLab with the list of assignments; instructors get the formgrader besides, in the
course folder. What is yours stands in the first lines, or in variables of these names.
"""

import os
import sys
from pathlib import Path

COURSE = Path(os.environ.get("COURSE", "/srv/attention/course"))
"""Made by `course init`, which calls the course after it; belongs to the first instructor."""
EXCHANGE = Path(os.environ.get("EXCHANGE", "/srv/attention/exchange"))
"""Where notebooks go out and come back: the instructor's (chmod 755). `course init` makes what
lies in it, and students write to its inbound alone."""
INSTRUCTORS = set(os.environ.get("INSTRUCTORS", "instructor").split())
STUDENTS = set(os.environ.get("STUDENTS", "").split())
"""Names of users; with none, everybody who has an account on this machine."""

SETTINGS = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent

c = get_config()  # noqa: F821

c.Authenticator.allowed_users = INSTRUCTORS | STUDENTS
c.Authenticator.allow_all = not STUDENTS
c.Authenticator.admin_users = INSTRUCTORS

c.Spawner.default_url = "/lab"
c.Spawner.cmd = [str(TOOLS / "jupyterhub-singleuser")]


def settle_in(spawner) -> None:
    """Instructors work in the course folder; a student's own server has no formgrader."""
    teaches = spawner.user.name in INSTRUCTORS
    settings = [COURSE if teaches else SETTINGS / "students", SETTINGS / "everybody"]
    if teaches:
        spawner.notebook_dir = str(COURSE)
    spawner.environment = {
        "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_CONFIG_PATH": os.pathsep.join(map(str, settings)),
        "COURSE": str(COURSE) if teaches else "",
        "COURSE_ID": COURSE.name,
        "EXCHANGE": str(EXCHANGE),
        "OMP_NUM_THREADS": "2",  # on a machine that many share
    }


c.Spawner.pre_spawn_hook = settle_in
