"""Several people mark at once, while the class is graded again: nobody's mark is lost."""

import threading

from autograder.grading.gradebook import Recorder
from tests.grading.gradebook_fixtures import CODE, PROOF, grade, mark_by_hand, outcome

MARKERS, EACH = 3, 4


def test_three_mark_at_once_on_postgresql_while_all_is_graded_again(postgres_url):
    """Each marker saves as the formgrader does, in a transaction of its own for each mark."""
    shares = [[f"student_{m}_{k}" for k in range(EACH)] for m in range(MARKERS)]
    everybody = [name for share in shares for name in share]
    with Recorder(postgres_url) as recorder:
        for name in everybody:
            recorder.record(outcome(name))
    begin, failures = threading.Barrier(MARKERS + 1), []

    def together(work):
        def run():
            begin.wait()
            try:
                work()
            except Exception as error:
                failures.append(error)

        return threading.Thread(target=run)

    def mark(share):
        for name in share:
            mark_by_hand(postgres_url, PROOF, name, manual_score=1.5)

    def grade_again():
        with Recorder(postgres_url) as recorder:
            for name in reversed(everybody):
                recorder.record(outcome(name, code=1.0), outcome(name))
            recorder.settle_lateness("01_rows")

    threads = [together(lambda share=share: mark(share)) for share in shares]
    threads.append(together(grade_again))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for name in everybody:
        assert grade(postgres_url, PROOF, name)["manual_score"] == 1.5, name
        assert grade(postgres_url, CODE, name)["auto_score"] == 1.0, name
