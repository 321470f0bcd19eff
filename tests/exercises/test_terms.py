"""What holds for one exercise reaches every place as one object, made from its record."""

import json

from course_lib.checking.terms import NO_TERMS, Limits, Terms

ALL = Terms(
    ("torch.softmax", "course_lib.softmax"),
    Limits(call_seconds=5, cell_seconds=20.5, memory_mib=2048, returned_mib=8),
)


def test_terms_survive_being_written_down():
    assert Terms.from_dict(json.loads(json.dumps(ALL.to_dict()))) == ALL
    assert Terms.from_dict(NO_TERMS.to_dict()) == NO_TERMS


def test_a_record_without_limits_is_as_it_always_was():
    record = {"points": 4, "withholds": ["torch.softmax"], "tests": {}}
    terms = Terms.from_dict(record)
    assert terms == Terms(("torch.softmax",)) and terms.limits == Limits()
    assert terms.to_dict() == {"withholds": ["torch.softmax"]}


def test_a_record_names_only_the_limits_that_differ():
    terms = Terms(limits=Limits(call_seconds=5))
    assert terms.to_dict() == {"withholds": [], "limits": {"call_seconds": 5}}
    assert Terms.from_dict(terms.to_dict()) == terms
