"""What SECURITY.md promises, as data: `course sandbox` says which of it holds on a machine."""

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.sandbox.probes import Found

SANDBOXES = ("namespaces", "landlock")
EVERYWHERE = (*SANDBOXES, "trusted", None)


@dataclass(frozen=True)
class Promise:
    """One sentence of SECURITY.md, where it holds, and what would fail if it did not."""

    words: str
    tiers: tuple[str | None, ...]
    tested_by: tuple[str, ...]
    group: str = ""
    """Of the attempts that `course sandbox` makes on the machine itself."""

    def holds(self, tier: str | None, found: Iterable[Found] = ()) -> bool:
        """On a machine of this tier, where these attempts were made."""
        tried = [one for one in found if one.attempt.group == self.group]
        return tier in self.tiers and all(one.held for one in tried)


PROMISES = (
    Promise(
        "A submission reads Python, its libraries and its own folder, and writes to its own folder "
        "alone.",
        SANDBOXES,
        ("tests/grading/test_sandbox.py", "tests/grading/test_attacks.py"),
        "files",
    ),
    Promise("It reaches no network.", SANDBOXES, ("tests/grading/test_sandbox.py",), "network"),
    Promise(
        "It sees and signals no process but its own, and none of its own outlives it.",
        SANDBOXES,
        ("tests/grading/test_sandbox.py", "tests/grading/test_attacks.py"),
        "processes",
    ),
    Promise(
        "It gains no privilege, and most system calls are refused.",
        SANDBOXES,
        ("tests/grading/test_sandbox.py",),
        "kernel",
    ),
    Promise(
        "Its time, memory, processes and files are limited.",
        SANDBOXES,
        ("tests/grading/test_sandbox.py", "tests/grading/test_limits.py"),
        "limits",
    ),
    Promise(
        "A mark is what the grader computed from answers to its own calls; nothing that a "
        "submission prints, stores or claims counts.",
        SANDBOXES,
        ("tests/grading/test_attacks.py",),
    ),
    Promise(
        "Of a hidden test a student learns whether the property holds, whether the answer raised, "
        "and which known mistake it made.",
        SANDBOXES,
        ("tests/reports/test_why.py", "tests/grading/test_attacks.py"),
    ),
    Promise(
        "Judging one submission ends after 30 seconds of the grader's own computing and grows by "
        "1.5 GiB at most; the student is named, and the class is graded.",
        EVERYWHERE,
        ("tests/grading/test_faults.py", "tests/grading/test_hostile_files.py"),
    ),
    Promise(
        "Nothing on a page acts or is fetched from elsewhere, whatever a student wrote, and no "
        "student's page stops another's.",
        EVERYWHERE,
        ("tests/grading/test_pages.py", "tests/reports/test_feedback.py"),
    ),
    Promise(
        "No link in what was handed in is followed, not even by nbgrader's own commands.",
        EVERYWHERE,
        ("tests/test_untrusted.py", "tests/classroom/test_exchange.py"),
    ),
    Promise(
        "Nobody hands in in the name of another; where two hand-ins are said to be one student's, "
        "a person decides.",
        EVERYWHERE,
        ("tests/classroom/test_collect.py", "tests/classroom/test_exchange.py"),
    ),
    Promise(
        "In nbgrader's exchange no student changes, reads or anticipates another's hand-in or a "
        "release; one where a student could is refused.",
        EVERYWHERE,
        ("tests/classroom/test_exchange.py", "tests/classroom/test_hub.py"),
    ),
    Promise(
        "Collecting one hand-in takes seconds, whatever it unfolds into.",
        EVERYWHERE,
        ("tests/classroom/test_collect.py",),
    ),
    Promise(
        "A right answer gets its points whatever stands beside it, and the same file gets the same "
        "mark each time.",
        EVERYWHERE,
        ("tests/grading/test_odd_but_honest.py",),
    ),
)
