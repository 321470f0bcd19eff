"""Do in a moment what a student's process will need, to learn whether this machine allows it.

    python -m autograder.sandbox.trial namespaces|landlock

Ends with 0, or with the error as the last line on standard error.
"""

import os
import sys

from autograder.sandbox import limits, system, warm
from autograder.sandbox.filters import student_filter


def main() -> None:
    tier = sys.argv[1]
    rules = student_filter(tier == "namespaces")
    if tier == "namespaces":
        warm.own_namespace()
        system.unshare("pid")
    if child := os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if tier == "namespaces":
        warm.separate()
    else:
        from autograder.sandbox.landlock import restrict

        restrict(read=["/proc/self"], write=[os.devnull])
    limits.impose()
    warm.confine(rules, tier)


if __name__ == "__main__":
    main()
