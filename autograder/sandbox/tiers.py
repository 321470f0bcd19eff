"""Which sandbox this machine gives, why not a better one, and exactly what to do about it.

namespaces  a world of its own for each submission; root steps down in it
landlock    files, signals and programs out of reach, where namespaces are refused; not for root
trusted     nothing is held back; only where whoever grades accepts that
"""

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.host import HERE, NoSandbox, in_namespaces

TIERS = ("namespaces", "landlock")
FLAG = "--trust-submissions"
TRIAL_SECONDS = 30

PROFILE = """abi <abi/4.0>,
include <tunables/global>
profile course-sandbox {python} flags=(unconfined) {{
  userns,
}}"""


@dataclass(frozen=True)
class Refusal:
    """Why a tier cannot be had here, and what would give it."""

    tier: str
    reason: str
    remedy: str


@dataclass(frozen=True)
class Machine:
    """What was found out by trying."""

    tier: str | None
    refusals: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        lines = [f"{r.tier}: {r.reason}\n{_indented(r.remedy)}" for r in self.refusals]
        return "\n".join(lines)


def best_tier() -> Machine:
    """Try one tier after the other, the better one first."""
    refusals: list[Refusal] = []
    for tier in TIERS:
        error = _try(tier)
        if error is None:
            return Machine(tier, tuple(refusals))
        refusals.append(Refusal(tier, *_explain(tier, error)))
        if not sys.platform.startswith("linux") or "libseccomp" in error:
            return Machine(None, (Refusal("sandbox", *_explain(tier, error)),))
    return Machine(None, tuple(refusals))


def choose(trust: bool = False) -> str:
    """The tier to grade with; NoSandbox, with reason, remedy and the way round, if there is none.

    Trust is needed only where there is no sandbox: where there is one, it is used.
    """
    machine = best_tier()
    if machine.tier:
        return machine.tier
    if trust and hasattr(os, "fork"):
        return "trusted"
    raise NoSandbox(
        f"this machine gives no sandbox, and submissions are programs of strangers.\n{machine}\n"
        + (
            f"Without a sandbox a submission can read and change whatever you can. To grade "
            f"anyhow, because you trust every one of them: {FLAG}"
            if hasattr(os, "fork")
            else f"{FLAG} does not help here: this system starts no processes in that way."
        )
    )


def _try(tier: str) -> str | None:
    """The error that a process met when it shut itself in; None if it could."""
    if not sys.platform.startswith("linux"):
        return "not Linux"
    if tier == "landlock" and os.geteuid() == 0:
        return "root"
    arguments = [sys.executable, "-m", "autograder.sandbox.trial", tier]
    try:
        if tier == "namespaces":
            process = in_namespaces(
                arguments, {}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        else:
            here = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
            process = subprocess.Popen(arguments, env=here, stderr=subprocess.PIPE)
        _, complaints = process.communicate(timeout=TRIAL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if process.returncode == 0:
        return None
    lines = complaints.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"the trial ended with {process.returncode}"


def _explain(tier: str, error: str) -> tuple[str, str]:
    """Reason and remedy, in the words of this machine."""
    if error == "not Linux":
        return _other_system()
    if "libseccomp" in error or "pyseccomp" in error:
        return "the library libseccomp is missing", (
            "Debian, Ubuntu:  sudo apt install libseccomp2\n"
            "Fedora:          sudo dnf install libseccomp"
        )
    return _no_namespaces(error) if tier == "namespaces" else _no_landlock(error)


def _other_system() -> tuple[str, str]:
    name = {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
    where = {"darwin": "a virtual machine (Lima, UTM)", "win32": "WSL 2 (wsl --install)"}
    return (
        f"{name} has neither namespaces nor Landlock",
        f"Grade on Linux: {where.get(sys.platform, 'a virtual machine')}, a server, or a hub.",
    )


def _no_namespaces(error: str) -> tuple[str, str]:
    if _setting("user/max_user_namespaces") == "0":
        return "user namespaces are switched off (user.max_user_namespaces = 0)", _sysctl(
            "user.max_user_namespaces=15000"
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return "user namespaces are for root only (kernel.unprivileged_userns_clone = 0)", _sysctl(
            "kernel.unprivileged_userns_clone=1"
        )
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        profile = PROFILE.format(python=os.path.realpath(sys.executable))
        return "AppArmor refuses user namespaces to programs without a profile (Ubuntu 23.10+)", (
            "Allow them to this Python alone:\n"
            f"sudo tee /etc/apparmor.d/course-sandbox <<'END'\n{profile}\nEND\n"
            "sudo apparmor_parser -r /etc/apparmor.d/course-sandbox"
        )
    if _in_a_container():
        return f"this container refuses namespaces ({error})", (
            "Start it with\n"
            "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\\n"
            "           --security-opt systempaths=unconfined ...\n"
            "or grade outside of it."
            + ("\nAs an ordinary user in it, Landlock may do." if os.geteuid() == 0 else "")
        )
    return f"the kernel refuses: {error}", "Ask whoever looks after this machine, or use another."


def _no_landlock(error: str) -> tuple[str, str]:
    if error == "root":
        return "Landlock does not hold root", (
            "Grade as an ordinary user:  sudo -u NAME course grade ..."
        )
    if "not implemented" in error:
        return f"Linux {platform.release()} has no Landlock (it came with 5.13)", "Use a newer one."
    if "not supported" in error:
        return "Landlock is built in but not switched on", (
            "Put  landlock,  in front of the list after  lsm=  on the kernel's command line\n"
            "(GRUB_CMDLINE_LINUX in /etc/default/grub, then sudo update-grub) and start again."
        )
    return f"the kernel refuses Landlock: {error}", (
        "In a container: use a seccomp profile that knows it (Docker 23 and later do)."
    )


def _sysctl(setting: str) -> str:
    file = "/etc/sysctl.d/60-course.conf"
    return f"sudo sysctl {setting}\necho {setting} | sudo tee {file}   # and after a restart"


def _setting(name: str) -> str | None:
    path = Path("/proc/sys") / name
    return path.read_text().strip() if path.is_file() else None


def _in_a_container() -> bool:
    if any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):
        return True
    lines = Path("/proc/self/status").read_text().splitlines()
    return any(line.split() == ["Seccomp:", "2"] for line in lines)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
