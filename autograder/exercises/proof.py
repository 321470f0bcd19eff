"""What was tried on an exercise, and what came out."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fault:
    """Why an exercise is refused: the file, the function in it, and what it does."""

    file: str
    function: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{self.file}, {self.function}: {self.problem}"
            if self.function
            else f"{self.file}: {self.problem}"
        )


@dataclass
class Proof:
    """What was tried on one exercise and what came out."""

    exercise: str
    kind: str
    tests: int = 0
    right: int = 0
    wrong: int = 0
    wrong_caught: int = 0
    mutants: int = 0
    equivalent: int = 0
    messages: dict[str, str] = field(default_factory=dict)
    """For each wrong answer, what its author reads."""
    faults: list[Fault] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.faults
