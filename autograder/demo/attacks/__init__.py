"""Submissions that try to earn what they have not: each must gain nothing and stop nobody.

They run against this grader alone, on the machine that runs the tests, and every bomb among them is
bounded by itself as well as by the sandbox.
"""

from autograder.demo.attacks import answers, bombs, notebooks, reaching, reading, verdicts
from autograder.demo.attacks.attack import Attack

__all__ = ["ATTACKS", "QUICK", "THEMES", "Attack"]

THEMES = {
    "forge a verdict": verdicts.ATTACKS,
    "return a liar": answers.ATTACKS,
    "read what is secret": reading.ATTACKS,
    "reach out": reaching.ATTACKS,
    "use everything up": bombs.ATTACKS,
    "disguise the notebook": notebooks.ATTACKS,
}
ATTACKS = tuple(attack for theme in THEMES.values() for attack in theme)
QUICK = tuple(attack for n in range(2) for theme in THEMES.values() for attack in theme[n : n + 1])
"""Two of each kind."""
