"""What the class report counts: numbers, and nobody's name."""

from dataclasses import dataclass, field
from statistics import median


@dataclass
class ExerciseCount:
    """One exercise in the whole class."""

    number: str
    title: str
    most: float
    shares: list[float] = field(default_factory=list)
    waits: int = 0
    unattempted: int = 0

    @property
    def full(self) -> int:
        return sum(share > 0.999 for share in self.shares)

    @property
    def none(self) -> int:
        return sum(share < 0.001 for share in self.shares)

    @property
    def part(self) -> int:
        return len(self.shares) - self.full - self.none

    @property
    def mean(self) -> float | None:
        return sum(self.shares) / len(self.shares) if self.shares else None


@dataclass(frozen=True)
class PropertyCount:
    """One test in the class: how many of those who tried failed it."""

    number: str
    property: str
    hidden: bool
    failed: int
    of: int


@dataclass(frozen=True)
class MistakeCount:
    """One known mistake, and how many gave its very numbers."""

    number: str
    title: str
    mistake: str
    students: int


@dataclass
class Summary:
    """All that the report says where it names nobody."""

    title: str
    most: float
    totals: list[float]
    exercises: list[ExerciseCount]
    hardest: list[PropertyCount]
    misconceptions: list[MistakeCount]
    unnamed: dict[str, int]
    """Exercise: students whose failure no single known mistake explains."""
    absent: int
    seconds: dict[str, list[float]]
    repairs: list[tuple[str, int]]
    incidents: list[tuple[str, int]]
    waiting: int
    """Answers that a person has still to look at."""
    late: int
    """Submissions that a late penalty was taken from."""

    @property
    def median(self) -> float:
        return median(self.totals)

    @property
    def each(self) -> list[float]:
        """Seconds of each submission."""
        return [sum(parts) for parts in zip(*self.seconds.values(), strict=True)]
