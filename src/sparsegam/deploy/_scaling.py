"""How log odds become the points of a scorecard."""

import math
from dataclasses import dataclass

from sparsegam.checks import check_boolean, check_choice, check_integer, check_number

METHODS = ("pdo", "min_max", "plain", "small")
DIRECTIONS = {"higher_is_safer": -1, "higher_is_riskier": 1}
BASES = ("apart", "folded")


@dataclass(frozen=True)
class Scaling:
    """How log odds become points; wrong values are refused when it is made.

    Attributes
    ----------
    method : {"pdo", "min_max", "plain", "small"}
        `pdo`: `base_points` at odds of `odds` to 1, and `pdo` more for twice the odds. `min_max`: the possible scores
        run from `lowest` to `highest`. `plain`: `multiplier` points per unit of log odds. `small`: at most
        `max_points` per term, the multiplier being searched, and at most `max_terms` terms, if that is given; for
        scores that are added up by hand.
    direction : {"higher_is_safer", "higher_is_riskier"} or None
        Whether points fall or rise with the probability of the second class; the odds meant are those of the class
        that points speak for. None means safer, as in credit, but riskier for `small`, as in medicine.
    base : {"apart", "folded"}
        Whether the base points are a line of their own or spread evenly over the features.
    nonnegative : bool
        Whether no step may have negative points: each feature starts at zero, and the base takes the difference.
    """

    method: str = "pdo"
    pdo: float = 20.0
    odds: float = 50.0
    base_points: float = 600.0
    lowest: int = 300
    highest: int = 850
    multiplier: float = 100.0
    max_points: int = 5
    max_terms: int | None = None
    direction: str | None = None
    base: str = "apart"
    nonnegative: bool = False

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("base", self.base, BASES)
        if self.direction is not None:
            check_choice("direction", self.direction, tuple(DIRECTIONS))
        for name in ("pdo", "odds", "multiplier"):
            check_number(name, getattr(self, name), at_least=0.0)
            if getattr(self, name) == 0:
                msg = f"{name} must be above zero, got 0."
                raise ValueError(msg)
        check_integer("max_points", self.max_points, at_least=1)
        if self.max_terms is not None:
            check_integer("max_terms", self.max_terms, at_least=1)
        check_boolean("nonnegative", self.nonnegative)
        if not self.lowest < self.highest:
            msg = f"lowest must be below highest, got {self.lowest!r} and {self.highest!r}."
            raise ValueError(msg)

    @property
    def sign(self) -> int:
        """1 where points rise with the probability of the second class, -1 where they fall."""
        default = "higher_is_riskier" if self.method == "small" else "higher_is_safer"
        return DIRECTIONS[self.direction or default]

    def line(self, low: float, high: float) -> tuple[float, float]:
        """Return factor and offset of points = offset + factor * sign * log odds, for log odds from low to high."""
        if self.method == "pdo":
            factor = self.pdo / math.log(2)
            return factor, self.base_points - factor * math.log(self.odds)
        if self.method == "min_max":
            factor = (self.highest - self.lowest) / (high - low or 1.0)
            return factor, self.lowest - factor * min(self.sign * low, self.sign * high)
        return self.multiplier, 0.0
