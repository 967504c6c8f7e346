"""Terms of an additive model: conditions, ramps and interactions with their coefficients."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from sparsegam._data.columns import Value, text

Kind = Literal["<=", ">", "==", "in", "missing", "ramp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SENSE = {"<=": -1, ">": 1, "ramp": 1}
"""Direction in which the score changes with x if the coefficient is positive."""
MAX_LISTED_LEVELS = 3
# Standard errors on either side of the centre of a 95 % interval.
INTERVAL = 1.96


@dataclass(frozen=True, repr=False)
class Condition:
    """Condition on a feature, or a ramp.

    A condition is `x <= value`, `x == value`, `x in value` (a tuple of levels) or `x is missing` (value None); in an
    interaction also `x > value`. Values have the type of the data: numbers, booleans, dates or levels. A ramp is
    `min(max(x, low) - value, 0)`: it has slope one between `low` and its knot `value`, and is zero above the knot and
    for missing and special values.
    """

    kind: Kind
    value: Value | tuple[Value, ...] | None = None
    low: float | None = None

    def __post_init__(self) -> None:
        if (self.kind == "ramp") != (self.low is not None):
            msg = f"low is required for ramps and invalid for other kinds, got kind={self.kind!r}, low={self.low!r}."
            raise ValueError(msg)

    def __repr__(self) -> str:
        low = "" if self.low is None else f", low={self.low!r}"
        return f"Condition(kind={self.kind!r}, value={self.value!r}{low})"

    @property
    def is_ramp(self) -> bool:
        """Whether this is a ramp instead of a condition."""
        return self.kind == "ramp"

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of a condition on single values; empty for `x is missing`."""
        if self.value is None:
            return ()
        return self.value if isinstance(self.value, tuple) else (self.value,)

    @property
    def edges(self) -> tuple[Value, ...]:
        """The threshold of a condition or both ends of a ramp, in order; empty for conditions without order."""
        if self.kind not in ("<=", ">", "ramp") or self.value is None or isinstance(self.value, tuple):
            return ()
        return (self.value,) if self.low is None else (self.low, self.value)

    def text(self, name: str) -> str:
        """Return the condition as text, such as `A <= 63`."""
        if self.value is None:
            return f"{name} is missing"
        if isinstance(self.value, tuple):
            few = len(self.value) <= MAX_LISTED_LEVELS
            return f"{name} in {{{', '.join(map(text, self.value))}}}" if few else f"{name} in {len(self.value)} levels"
        if self.is_ramp:
            return f"min({name} {_less(self.value)}, 0)"
        if isinstance(self.value, bool):
            return f"{name} is {not self.value if self.kind == '>' else self.value}"
        return f"{name} {self.kind} {text(self.value)}"

    def describe(self, name: str) -> str:
        """Return the column of the condition, as in `1[A <= 63]` or `min(A - 75, 0)`."""
        return self.text(name) if self.is_ramp else f"1[{self.text(name)}]"


@dataclass(frozen=True)
class Clause:
    """Condition with its feature, a part of an interaction."""

    feature: str
    condition: Condition

    def text(self, names: Mapping[str, str]) -> str:
        """Return the condition as text, such as `age <= 25`; `names` maps features to other names."""
        return self.condition.text(names.get(self.feature, self.feature))


@dataclass(frozen=True)
class TermStatistics:
    """Unweighted numbers of training rows of a term, and the standard error of its coefficient.

    Attributes
    ----------
    n_rows, n_others : int
        Rows for which the condition holds (for a ramp: rows below its knot), and the other rows.
    n_events : int or None
        Rows of the positive class among `n_rows`; None for a regression.
    standard_error : float or None
        Standard error of the unshrunken coefficient, which ignores that the term was selected (see `FitStatistics`).
    unshrunken : float or None
        Coefficient after one Newton step without the ridge, the centre of confidence intervals.
    """

    n_rows: int
    n_others: int
    n_events: int | None = None
    standard_error: float | None = None
    unshrunken: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the coefficient, without the shrinkage of the ridge."""
        if self.standard_error is None or self.unshrunken is None:
            return None
        half_width = INTERVAL * self.standard_error
        return self.unshrunken - half_width, self.unshrunken + half_width

    @property
    def smaller(self) -> int:
        """Rows in the smaller group, which limits the precision of the coefficient."""
        return min(self.n_rows, self.n_others)


Part = str | tuple[str, str]
"""Key of a fitted function: a feature, or a pair of features."""


@dataclass(frozen=True)
class Term:
    """Term of a score: `coef` where `condition` holds for `feature`, or `coef` times the value of a ramp.

    An interaction has a second condition, `also`, which must hold as well. The terms of a fitted model have
    `statistics`; `n_rows`, `n_events` and `standard_error` are None without them.
    """

    feature: str
    condition: Condition
    coef: float
    also: Clause | None = None
    statistics: TermStatistics | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.also is None:
            if self.condition.kind == ">":
                msg = (
                    f"a term on one feature must use <=, got {self.text()!r}: use <= with the negative coefficient, "
                    "and add the coefficient to the intercept."
                )
                raise ValueError(msg)
        elif self.also.feature == self.feature or self.condition.is_ramp or self.also.condition.is_ramp:
            msg = f"an interaction must have two conditions on different features and no ramp, got {self.text()!r}."
            raise ValueError(msg)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The condition with its feature, or both conditions of an interaction."""
        first = Clause(self.feature, self.condition)
        return (first,) if self.also is None else (first, self.also)

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the term."""
        return (self.feature,) if self.also is None else (self.feature, self.also.feature)

    @property
    def is_interaction(self) -> bool:
        """Whether this is an interaction."""
        return self.also is not None

    @property
    def part(self) -> Part:
        """Key of the function that contains the term: its feature, or its pair of features."""
        return self.feature if self.also is None else (self.feature, self.also.feature)

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Return the conditions as text, such as `age <= 25 and priors > 3`; `names` maps features to other names."""
        return " and ".join(clause.text(names or {}) for clause in self.clauses)

    def short(self) -> str:
        """Return the conditions without the name of a single feature, such as `x <= 25`."""
        return self.text() if self.is_interaction else self.condition.text("x")

    def describe(self, names: Mapping[str, str] | None = None) -> str:
        """Return the column of the term, as in `1[age <= 25]` or `min(age - 75, 0)`."""
        return self.text(names) if self.condition.is_ramp else f"1[{self.text(names)}]"

    @property
    def n_rows(self) -> int | None:
        """Number of training rows for which the condition holds (for a ramp: rows below its knot)."""
        return None if self.statistics is None else self.statistics.n_rows

    @property
    def n_events(self) -> int | None:
        """Number of rows of the positive class among `n_rows`."""
        return None if self.statistics is None else self.statistics.n_events

    @property
    def standard_error(self) -> float | None:
        """Standard error of the unshrunken coefficient."""
        return None if self.statistics is None else self.statistics.standard_error

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the coefficient, without the shrinkage of the ridge; None if unknown.

        It holds for terms that were given, not selected. It is centred at the coefficient after one Newton step without
        the ridge, and hence not at `coef` unless lambda2 is 0.
        """
        return None if self.statistics is None else self.statistics.interval

    def negated(self) -> "Term":
        """Return the term of the score of the other class: its sign and its events are turned round."""
        known = self.statistics
        if known is not None and known.n_events is not None:
            known = replace(known, n_events=known.n_rows - known.n_events)
        if known is not None and known.unshrunken is not None:
            known = replace(known, unshrunken=-known.unshrunken)
        return replace(self, coef=-self.coef, statistics=known)

    def __str__(self) -> str:
        return f"{self.coef:+.4g} x {self.describe()}"


def conditions_of(terms: Iterable[Term]) -> dict[str, list[Condition]]:
    """Return the conditions of terms by feature."""
    conditions: dict[str, list[Condition]] = {}
    for term in terms:
        conditions.setdefault(term.feature, []).append(term.condition)
        if term.also is not None:
            conditions.setdefault(term.also.feature, []).append(term.also.condition)
    return conditions


def part_name(part: Part) -> str:
    """Return the name of a feature, or of a pair as in `age & priors`."""
    return part if isinstance(part, str) else " & ".join(part)


def _less(value: Any) -> str:
    """Return the subtraction of a number, as in `- 75`, or `+ 3` for -3."""
    return f"+ {text(-value)}" if value < 0 else f"- {text(value)}"
