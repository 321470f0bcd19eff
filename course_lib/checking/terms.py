"""The terms on which one exercise is checked: what it withholds, how much time and memory it gives.

Made once from the exercise's record and passed on as one object, so that a further property is
added here and used where it is meant, and nowhere else.
"""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where an exercise asks for others than the grader's own, which None stands for."""

    call_seconds: float | None = None
    cell_seconds: float | None = None
    memory_mib: int | None = None
    returned_mib: int | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Terms:
    """What holds for every call of one exercise's function."""

    withholds: tuple[str, ...] = ()
    """Full names of library functions that the student is to write."""
    limits: Limits = NO_LIMITS

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Terms":
        """From a record, or from what `to_dict` gave; other keys are somebody else's."""
        return cls(tuple(data["withholds"]), Limits(**data.get("limits", {})))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a record: limits only where there are some."""
        limits = {name: value for name, value in asdict(self.limits).items() if value is not None}
        return {"withholds": list(self.withholds)} | ({"limits": limits} if limits else {})


NO_TERMS = Terms()
"""Nothing is withheld, and the limits are the grader's."""
