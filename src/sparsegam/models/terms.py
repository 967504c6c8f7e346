"""One term of an additive model: a condition on one feature and the points it adds, or a ramp and its slope."""

from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sparsegam.data.scales import Value, text

Kind = Literal["<=", "==", "in", "missing", "ramp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FEW = 3  # levels that are still written out one by one


@dataclass(frozen=True)
class Condition:
    """What a column asks of its feature.

    A 0/1 column asks for `x <= value`, `x == value`, `x in value` (a tuple of levels) or `x is missing` (value None). A
    value is what the data has: a number, a boolean, a date, a level. A ramp is `min(x - value, 0)`, with x held at
    `low`: below its knot it falls by one for each unit, above it is zero, as it is for missing and special values.
    """

    kind: Kind
    value: Value | tuple[Value, ...] | None = None
    low: float | None = None

    def __post_init__(self) -> None:
        if (self.kind == "ramp") != (self.low is not None):
            msg = f"a ramp, and nothing else, has a low end at which x is held, got {self.kind!r} with {self.low!r}."
            raise ValueError(msg)

    def __repr__(self) -> str:
        low = "" if self.low is None else f", low={self.low!r}"
        return f"Condition(kind={self.kind!r}, value={self.value!r}{low})"

    @property
    def is_ramp(self) -> bool:
        """Whether it is a ramp, and no 0/1 column."""
        return self.kind == "ramp"

    @property
    def edges(self) -> tuple[Value, ...]:
        """Where what it adds may change, in the order of the feature."""
        if self.kind not in ("<=", "ramp") or self.value is None or isinstance(self.value, tuple):
            return ()
        return (self.value,) if self.low is None else (self.low, self.value)

    def text(self, name: str) -> str:
        """Write the condition with a name for the feature, as in `A <= 63`."""
        if self.value is None:
            return f"{name} is missing"
        if isinstance(self.value, tuple):
            few = len(self.value) <= FEW
            return f"{name} in {{{', '.join(map(text, self.value))}}}" if few else f"{name} in {len(self.value)} levels"
        if self.is_ramp:
            return f"min({name} {_less(self.value)}, 0)"
        if isinstance(self.value, bool):
            return f"{name} is {self.value}"
        return f"{name} {self.kind} {text(self.value)}"

    def describe(self, name: str) -> str:
        """Write the column of the condition, as in `1[A <= 63]` or `min(A - 75, 0)`."""
        return self.text(name) if self.is_ramp else f"1[{self.text(name)}]"


@dataclass(frozen=True)
class Standing:
    """What a term stands on: the rows of its fit, each counted once whatever it weighs.

    Attributes
    ----------
    n_rows, n_others : int
        Rows for which its condition holds (for a ramp: that are below its knot), and the others.
    n_events : int or None
        Rows of the second class among `n_rows`; None for a regression.
    standard_error : float or None
        Of the coefficient, as if the steps had been given and not chosen (see `Evidence`); None where there is none.
    """

    n_rows: int
    n_others: int
    n_events: int | None = None
    standard_error: float | None = None

    @property
    def smaller(self) -> int:
        """Rows on the smaller side of the step: no coefficient is known better than they tell."""
        return min(self.n_rows, self.n_others)


@dataclass(frozen=True)
class Term:
    """`coef` is added to the score where `condition` holds for the column `feature`; a ramp adds coef times its value.

    `standing` says what that stands on, in a model that was fitted; `n_rows`, `n_events` and `standard_error` are its
    parts, None where it is not known.
    """

    feature: str
    condition: Condition
    coef: float
    # not an argument, so that `replace` never hands the error of one coefficient to another
    standing: Standing | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def n_rows(self) -> int | None:
        """Rows of the fit for which the condition holds, or that are below the knot of a ramp."""
        return None if self.standing is None else self.standing.n_rows

    @property
    def n_events(self) -> int | None:
        """Rows of the second class among them."""
        return None if self.standing is None else self.standing.n_events

    @property
    def standard_error(self) -> float | None:
        """Standard error of the coefficient."""
        return None if self.standing is None else self.standing.standard_error

    def standing_on(self, standing: Standing) -> "Term":
        """Return the same term with what it stands on."""
        out = copy(self)
        object.__setattr__(out, "standing", standing)
        return out

    def __str__(self) -> str:
        return f"{self.coef:+.4g} x {self.condition.describe(self.feature)}"


def _less(value: Any) -> str:
    """Write what is taken from a feature, as in `- 75` or `+ 3` for a number below zero."""
    return f"+ {text(-value)}" if value < 0 else f"- {text(value)}"
