"""One term of an additive model: a condition on a feature, or on each of two, and what it adds; or a ramp."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sparsegam._data.columns import Value, text

Kind = Literal["<=", ">", "==", "in", "missing", "ramp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SENSE = {"<=": -1, ">": 1, "ramp": 1}  # whether a score rises with x where the coefficient is above zero
FEW = 3  # levels that are still written out one by one


@dataclass(frozen=True, repr=False)
class Condition:
    """What a column asks of its feature.

    A 0/1 column asks for `x <= value`, `x == value`, `x in value` (a tuple of levels) or `x is missing` (value None);
    in a product also for `x > value`. A value is what the data has: a number, a boolean, a date, a level. A ramp is
    `min(x - value, 0)`, with x held at `low`: below its knot it falls by one for each unit, above it is zero, as it is
    for missing and special values.
    """

    kind: Kind
    value: Value | tuple[Value, ...] | None = None
    low: float | None = None

    def __post_init__(self) -> None:
        if (self.kind == "ramp") != (self.low is not None):
            msg = f"a ramp, and nothing else, has a low end at which x is held, got {self.kind!r} with {self.low!r}."
            raise ValueError(msg)

    def __repr__(self) -> str:
        held = "" if self.low is None else f", low={self.low!r}"
        return f"Condition(kind={self.kind!r}, value={self.value!r}{held})"

    @property
    def is_ramp(self) -> bool:
        """Whether it is a ramp, and no 0/1 column."""
        return self.kind == "ramp"

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of a condition on single values; empty for `x is missing`."""
        if self.value is None:
            return ()
        return self.value if isinstance(self.value, tuple) else (self.value,)

    @property
    def edges(self) -> tuple[Value, ...]:
        """Where what it adds may change, in the order of the feature."""
        if self.kind not in ("<=", ">", "ramp") or self.value is None or isinstance(self.value, tuple):
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
            return f"{name} is {not self.value if self.kind == '>' else self.value}"
        return f"{name} {self.kind} {text(self.value)}"

    def describe(self, name: str) -> str:
        """Write the column of the condition, as in `1[A <= 63]` or `min(A - 75, 0)`."""
        return self.text(name) if self.is_ramp else f"1[{self.text(name)}]"


@dataclass(frozen=True)
class Clause:
    """A condition on a feature: the second of a product."""

    feature: str
    condition: Condition

    def text(self, names: Mapping[str, str]) -> str:
        """Write it, as in `age <= 25`, with other names for the features where given."""
        return self.condition.text(names.get(self.feature, self.feature))


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


Part = str | tuple[str, str]
"""What terms add up to: a function of a feature, or of a pair of them."""


@dataclass(frozen=True)
class Term:
    """`coef` is added to the score where `condition` holds for the column `feature`; a ramp adds coef times its value.

    A product has a second clause, `also`, which must hold as well. `standing` says what the term stands on, in a model
    that was fitted; `n_rows`, `n_events` and `standard_error` are its parts, None where it is not known.
    """

    feature: str
    condition: Condition
    coef: float
    also: Clause | None = None
    # not an argument, so that `replace` never hands the error of one coefficient to another
    standing: Standing | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.also is None:
            if self.condition.kind == ">":
                msg = f"a term of one feature is written with <=, got {self.text()!r}: turn its sign around."
                raise ValueError(msg)
        elif self.also.feature == self.feature or self.condition.is_ramp or self.also.condition.is_ramp:
            msg = f"a product is of two conditions on different features, none of them a ramp, got {self.text()!r}."
            raise ValueError(msg)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """What it asks: of one feature, or of two."""
        first = Clause(self.feature, self.condition)
        return (first,) if self.also is None else (first, self.also)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it asks about."""
        return (self.feature,) if self.also is None else (self.feature, self.also.feature)

    @property
    def is_product(self) -> bool:
        """Whether it asks about two features."""
        return self.also is not None

    @property
    def part(self) -> Part:
        """What it is a term of: its feature, or its pair of features."""
        return self.feature if self.also is None else (self.feature, self.also.feature)

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Write what it asks, as in `age <= 25 and priors > 3`, with other names for the features where given."""
        return " and ".join(clause.text(names or {}) for clause in self.clauses)

    def short(self) -> str:
        """Write what it asks where its part is named beside it: `x <= 25`; a product needs both names."""
        return self.text() if self.is_product else self.condition.text("x")

    def describe(self, names: Mapping[str, str] | None = None) -> str:
        """Write its column, as in `1[age <= 25]` or `min(age - 75, 0)`."""
        return self.text(names) if self.condition.is_ramp else f"1[{self.text(names)}]"

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
        out = object.__new__(type(self))  # as `copy` does, in a tenth of its time: a fit has many terms
        vars(out).update(vars(self), standing=standing)
        return out

    def __str__(self) -> str:
        return f"{self.coef:+.4g} x {self.describe()}"


def conditions_of(terms: Iterable[Term]) -> dict[str, list[Condition]]:
    """Return what terms ask of each feature."""
    asked: dict[str, list[Condition]] = {}
    for term in terms:
        asked.setdefault(term.feature, []).append(term.condition)
        if term.also is not None:
            asked.setdefault(term.also.feature, []).append(term.also.condition)
    return asked


def part_name(part: Part) -> str:
    """Write the name of a feature, or of a pair as in `age & priors`."""
    return part if isinstance(part, str) else " & ".join(part)


def _less(value: Any) -> str:
    """Write what is taken from a feature, as in `- 75` or `+ 3` for a number below zero."""
    return f"+ {text(-value)}" if value < 0 else f"- {text(value)}"
