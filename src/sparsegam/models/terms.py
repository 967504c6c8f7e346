"""One term of an additive model: a condition on one feature and the points it adds."""

from dataclasses import dataclass
from typing import Literal, get_args

from sparsegam.data.scales import Value, text

Kind = Literal["<=", "==", "in", "missing"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FEW = 3  # levels that are still written out one by one


@dataclass(frozen=True)
class Condition:
    """What a 0/1 column asks of its feature.

    `x <= value`, `x == value`, `x in value` (a tuple of levels) or `x is missing` (value None). A value is what the
    data has: a number, a boolean, a date, a level.
    """

    kind: Kind
    value: Value | tuple[Value, ...] | None = None

    def text(self, name: str) -> str:
        """Write the condition with a name for the feature, as in `A <= 63`."""
        if self.value is None:
            return f"{name} is missing"
        if isinstance(self.value, tuple):
            few = len(self.value) <= FEW
            return f"{name} in {{{', '.join(map(text, self.value))}}}" if few else f"{name} in {len(self.value)} levels"
        if isinstance(self.value, bool):
            return f"{name} is {self.value}"
        return f"{name} {self.kind} {text(self.value)}"

    def describe(self, name: str) -> str:
        """Write the 0/1 column of the condition, as in `1[A <= 63]`."""
        return f"1[{self.text(name)}]"


@dataclass(frozen=True)
class Term:
    """`coef` is added to the score where `condition` holds for the column `feature`."""

    feature: str
    condition: Condition
    coef: float

    def __str__(self) -> str:
        return f"{self.coef:+.4g} x {self.condition.describe(self.feature)}"
