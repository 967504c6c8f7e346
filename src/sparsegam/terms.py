"""One term of an additive model: a condition on one feature and the points it adds."""

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["<=", "==", "missing"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Condition:
    """What a 0/1 column asks of its feature: `x <= value`, `x == value` or `x is missing` (value None)."""

    kind: Kind
    value: float | None = None

    def describe(self, name: str) -> str:
        """Write the condition with a name for the feature, as in `1[A <= 63]`."""
        return f"1[{name} is missing]" if self.value is None else f"1[{name} {self.kind} {number(self.value)}]"


@dataclass(frozen=True)
class Term:
    """`coef` is added to the score where `condition` holds for the column `feature`."""

    feature: str
    condition: Condition
    coef: float

    def __str__(self) -> str:
        return f"{self.coef:+.4g} x {self.condition.describe(self.feature)}"


def number(value: float) -> str:
    """Write a threshold in as few characters as give the same float back (63.0 is 63)."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
