"""Editing on the record: a person changes one thing, the rest is fitted again, and what it cost is written down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import NUMBER, Scale
from sparsegam._data.table import read_table
from sparsegam._data.target import read_weights
from sparsegam._models.additive import Model
from sparsegam._models.edits import Edit
from sparsegam._models.functions import joint_shares, score_function
from sparsegam._models.outcomes import target_of
from sparsegam._models.seen import seen_of
from sparsegam._models.terms import KINDS, SENSE, Clause, Part, Term, part_name
from sparsegam._search.refit import Columns, Support, refit
from sparsegam._search.ridge import Ridge, ridge_of
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_number
from sparsegam.inspection._drift import profile_of_columns
from sparsegam.inspection._metrics import weighted_auc
from sparsegam.losses import LOSSES

Key = tuple[Clause, ...]


@dataclass(frozen=True)
class Rows:
    """The rows that edits are judged and fitted on: target (-1 and 1, or the response) and weights."""

    numbers: dict[str, FloatArray]
    target: FloatArray
    weight: FloatArray

    def columns(self, model: Model) -> FloatArray:
        """Return the columns of the terms: 0 and 1, or ramps in units of their width, so that none is too large."""
        found = [model.column_of(term, self.numbers) / _width(term) for term in model.terms]
        return np.column_stack(found) if found else np.zeros((self.target.size, 0))


class Editor:
    """Changes a model step by step; every change is refitted, judged and recorded.

    Parameters
    ----------
    model : Model
        The model to start from; it stays as it is.
    X, y : table and labels
        Rows to fit and to judge on, usually those of the first fit.
    who : str
        Who edits.
    sample_weight : array-like, optional
        Weights of the rows.
    lambda2 : float or "auto"
        Ridge penalty of the refits, as of the estimators.

    Attributes
    ----------
    model : Model
        The model as it is now, with all edits in `model.edits`.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> from sparsegam.deploy import Editor
    >>> ages = [[a] for a in range(20, 60)]
    >>> answers = [int(a > 40) ^ (a % 7 == 0) for (a,) in ages]
    >>> model = SparseGAMClassifier(lambda0=2, lambda2=0.001).fit(ages, answers).model_
    >>> editor = Editor(model, ages, answers, who="A. Analyst")
    >>> editor.move("x0", 42, 45, why="policy counts in fives").terms[0].condition.value
    45.0
    """

    def __init__(
        self, model: Model, X: Any, y: Any, *, who: str, sample_weight: Any = None, lambda2: Any = "auto"
    ) -> None:
        _check_words("who", who)
        self._rows = _read_rows(model, X, y, sample_weight)
        ridge = ridge_of(lambda2, model.loss)
        self._ridge = ridge.times_noise(_unexplained(model, self._rows)) if ridge.over_noise else ridge
        self._who = who
        self._fixed: set[Key] = set()
        self._past: list[tuple[Model, set[Key]]] = []
        self.model = model

    def move(self, feature: Part, old: Any, new: Any, *, why: str, kind: Any = None) -> Model:
        """Move a threshold, the knot of a ramp or what a product asks for, and fit the coefficients again.

        Parameters
        ----------
        feature : str or pair of str
            Column of the term, or both columns of a product.
        old, new : value or pair of values
            Where it is, and where it shall be.
        why : str
            The reason, kept on the record.
        kind : {"<=", "ramp"}, or pair of {"<=", ">"}, optional
            The condition, needed only where two terms ask for the same value.

        Returns
        -------
        Model
            The model after the edit.
        """
        term = self._term(feature, old, kind, among=tuple(SENSE) if isinstance(feature, str) else KINDS)
        moved = self._moved(term, new)
        if any(t.clauses == moved.clauses for t in self.model.terms):
            what = "product" if term.is_product else "ramp" if term.condition.is_ramp else "step"
            remedy = "drop" if term.is_product else "merge"
            msg = f"column {feature!r} has a {what} at {new!r} already: {remedy} one of the two instead."
            raise ValueError(msg)
        self._fixed = {moved.clauses if key == term.clauses else key for key in self._fixed}
        terms = [moved if t is term else t for t in self.model.terms]
        return self._record("move", f"{term.text()} to {moved.text()}", terms, why)

    def merge(self, feature: Part, threshold: Any, *, why: str) -> Model:
        """Make one step of the two on both sides of a threshold, and fit the coefficients again."""
        if not isinstance(feature, str):
            msg = f"merge is of two steps of one column, got {feature!r}: drop the product instead."
            raise ValueError(msg)
        term = self._term(feature, threshold, "<=")
        terms = [t for t in self.model.terms if t is not term]
        return self._record("merge", f"the steps on both sides of {term.text()}", terms, why)

    def fix(self, feature: Part, value: Any, coef: float, *, why: str, kind: Any = None) -> Model:
        """Give a term a coefficient, which later refits leave alone, and fit the others again.

        Parameters
        ----------
        feature : str or pair of str
            Column of the term, or both columns of a product.
        value : value or None, or pair of them
            What its condition asks for, or the knot of a ramp; None for `is missing`.
        coef : float
            The coefficient; of a ramp, what each unit adds.
        why : str
            The reason, kept on the record.
        kind : {"<=", ">", "==", "in", "missing", "ramp"} or pair of them, optional
            The condition, needed only where two terms ask for the same value.

        Returns
        -------
        Model
            The model after the edit.
        """
        check_number("abs(coef)", abs(coef), at_least=0.0)
        term = self._term(feature, value, kind)
        self._fixed = self._fixed | {term.clauses}
        terms = [replace(t, coef=float(coef)) if t is term else t for t in self.model.terms]
        return self._record("fix", f"{term.text()} at {coef:g} (was {term.coef:.4g})", terms, why)

    def drop(self, feature: Part, value: Any, *, why: str, kind: Any = None) -> Model:
        """Take one term out, and fit the others again; it is named as in `fix`."""
        term = self._term(feature, value, kind)
        return self._record("drop", term.text(), [t for t in self.model.terms if t is not term], why)

    def forbid(self, feature: Part, *, why: str) -> Model:
        """Take a feature out altogether, or all products of a pair of them, and fit the others again."""
        model = self.model
        if feature not in (*model.features, *model.pairs):
            uses = ", ".join([*model.features, *map(str, model.pairs)])
            msg = f"the model does not use column {feature!r}: it uses {uses}."
            raise ValueError(msg)
        left = [t for t in model.terms if t.part != feature and feature not in t.features]
        return self._record("forbid", part_name(feature), left, why)

    def undo(self) -> Model:
        """Take the last edit back, record and all."""
        if not self._past:
            msg = "there is no edit to undo."
            raise ValueError(msg)
        self.model, self._fixed = self._past.pop()
        return self.model

    def _record(self, action: str, what: str, terms: Sequence[Term], why: str) -> Model:
        _check_words("why", why)
        before = self.model
        changed = _on_rows(before, tuple(terms), self._rows)
        after = _refitted(changed, before, self._rows, self._fixed, self._ridge)
        (loss_before, auc_before), (loss_after, auc_after) = (_worth(m, self._rows) for m in (before, after))
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        edit = Edit(action, what, self._who, why, when, loss_before, loss_after, auc_before, auc_after)
        self._past.append((before, set(self._fixed)))
        after = replace(after, edits=(*before.edits, edit))
        self.model = after.remembering(
            profile_of_columns(score_function(after), self._rows.numbers, self._rows.target.size)
        )
        return self.model

    def _scale(self, feature: str) -> Scale:
        return self.model.scales.get(feature, NUMBER)

    def _term(self, feature: Part, value: Any, kind: Any = None, among: Sequence[str] = KINDS) -> Term:
        names = (feature,) if isinstance(feature, str) else tuple(feature)
        values, kinds = _each("value", value, names), _each("kind", kind, names)
        wanted = [_asked(one, self._scale(name), name) for name, one in zip(names, values, strict=True)]
        of_part = [t for t in self.model.terms if t.features == names]
        mine = [t for t in of_part if all(map(partial(_is_of, among), t.clauses, kinds))]
        found = [t for t in mine if [one.condition.value for one in t.clauses] == wanted]
        if len(found) == 1:
            return found[0]
        has = ", ".join(t.text() for t in mine) or "none"
        msg = f"{value!r} names {len(found)} terms of column {feature!r}, which has: {has}."
        raise ValueError(msg)

    def _moved(self, term: Term, new: Any) -> Term:
        """Return a term that asks for other values, in the same way."""
        values = _each("new", new, term.features)
        first, *other = (self._changed(one, value) for one, value in zip(term.clauses, values, strict=True))
        return replace(term, condition=first.condition, also=other[0] if other else None)

    def _changed(self, clause: Clause, new: Any) -> Clause:
        condition, value = clause.condition, _asked(new, self._scale(clause.feature), clause.feature)
        alike = type(value) is type(condition.value)
        if not alike:
            msg = f"{condition.text(clause.feature)} asks for a value of another kind than {new!r}: drop it instead."
            raise ValueError(msg)
        if condition.low is not None and value <= condition.low:
            held = f"must be above {condition.low:g}, where x is held"
            msg = f"the knot of a ramp of {clause.feature!r} {held}, got {value!r}."
            raise ValueError(msg)
        return replace(clause, condition=replace(condition, value=value))


def _check_words(name: str, words: Any) -> None:
    if not isinstance(words, str) or not words.strip():
        msg = f"{name} must be said in words for the record, got {words!r}."
        raise ValueError(msg)


def _read_rows(model: Model, X: Any, y: Any, sample_weight: Any) -> Rows:
    table = read_table(X)
    return Rows(
        score_function(model).columns(table),
        target_of(model, y, table.n_rows),
        read_weights(sample_weight, table.n_rows),
    )


def _on_rows(model: Model, terms: tuple[Term, ...], rows: Rows) -> Model:
    """Put changed terms into a model, and sum the rows by what they ask, so that means over these are its own."""
    counts = rows.weight > 0
    weight, numbers = rows.weight[counts], {name: column[counts] for name, column in rows.numbers.items()}
    bare = replace(model, terms=terms, missing="last", seen_pairs={})
    seen = {}
    for name in bare.features:
        asked = [one.condition for term in terms for one in term.clauses if one.feature == name]
        special, scale = model.special_values.get(name, ()), model.scale_of(name)
        seen[name] = seen_of(asked, special, scale, numbers[name], weight)
    bare, pairs = replace(bare, seen=seen), {}
    for pair in bare.pairs:
        pairs[pair] = joint_shares(bare.pair_bins(pair), (numbers[pair[0]], numbers[pair[1]]), weight)
    return replace(bare, missing=model.missing, seen_pairs=pairs)


def _refitted(model: Model, before: Model, rows: Rows, fixed: set[Key], ridge: Ridge) -> Model:
    """Fit intercept and free coefficients; features that went one way only before keep to it."""
    columns = rows.columns(model)
    direction = _directions(before)
    held = np.array([t.clauses in fixed for t in model.terms], dtype=bool)
    width = np.array([_width(t) for t in model.terms])
    coef = np.array([t.coef for t in model.terms]) * width
    ids = np.arange(coef.size, dtype=np.int64)
    ramps = np.flatnonzero([t.condition.is_ramp for t in model.terms])
    while True:
        start = Support(ids, np.append(model.intercept, coef))
        fitted = _fit(columns, start, held, rows, (model.loss, ridge, ramps)).theta
        wrong = ~held & np.array([w * direction.get(t.clauses, 0) < 0 for t, w in _pairs(model, fitted[1:])], bool)
        if not wrong.any():
            break
        held, coef = held | wrong, np.where(wrong, 0.0, coef)
    coefs = np.where(held & (coef != 0), [t.coef for t in model.terms], fitted[1:] / width)  # fixed to the bit
    terms = (replace(t, coef=w) for t, w in _pairs(model, coefs))
    return replace(model, intercept=float(fitted[0])).keeping(t for t in terms if t.coef or t.clauses in fixed)


def _pairs(model: Model, coefs: FloatArray) -> Iterator[tuple[Term, float]]:
    return zip(model.terms, coefs.tolist(), strict=True)


def _width(term: Term) -> float:
    """Return by how much a ramp changes from one end to the other; 1 for a condition."""
    ends = np.array(term.condition.edges, dtype=np.float64) if term.condition.is_ramp else np.array([0.0, 1.0])
    return float(np.ptp(ends))


def _directions(model: Model) -> dict[Key, int]:
    """Return the sign of all coefficients of thresholds and ramps of a feature, where it goes but one way."""
    out: dict[Key, int] = {}
    for name in model.features:
        asked = ((t.clauses, one) for t in model.terms for one in t.clauses if one.feature == name)
        rises = {key: SENSE[one.condition.kind] for key, one in asked if one.condition.kind in SENSE}
        ways = {int(np.sign(t.coef)) * rises[t.clauses] for t in model.terms if t.clauses in rises} - {0}
        if len(ways) == 1:
            way = ways.pop()
            out |= {key: way * sense for key, sense in rises.items()}
    return out


def _fit(
    columns: FloatArray, start: Support, held: NDArray[np.bool_], rows: Rows, options: tuple[str, Ridge, Columns]
) -> Support:
    """Minimise the loss and the ridge over intercept and free coefficients.

    A regression is fitted to what its mean leaves: the core sums squares, which lose digits far from zero.
    """
    loss, ridge, ramps = options
    mean = 0.0 if LOSSES[loss].is_classifier else float(rows.weight @ rows.target / rows.weight.sum())
    matrix = _core.Matrix(columns if columns.size else np.zeros((rows.target.size, 1)))  # the core wants a column
    core = _core.MatrixRows(matrix, rows.target - mean, rows.weight, loss=loss, n_threads=1)
    shift = np.append(mean, np.zeros(start.columns.size))
    fitted = refit(core, ridge, Support(start.columns, start.theta - shift), held=held, ramps=ramps)
    return Support(fitted.columns, fitted.theta + shift, fitted.objective)


def _unexplained(model: Model, rows: Rows) -> float:
    """Return the share of the variance that a regression leaves; all of it where there is none, or none in floats."""
    total = rows.weight.sum()
    mean = np.full(rows.target.size, rows.weight @ rows.target / total if total > 0 else 0.0)
    of_mean = LOSSES[model.loss].total(rows.target, mean, rows.weight)
    return min(_worth(model, rows)[0] / of_mean, 1.0) if 0 < of_mean < np.inf else 1.0


def _worth(model: Model, rows: Rows) -> tuple[float, float | None]:
    """Return loss and AUC of a model on the rows."""
    score = model.intercept + rows.columns(model) @ np.array([t.coef * _width(t) for t in model.terms])
    loss = LOSSES[model.loss].total(rows.target, score, rows.weight)
    if model.classes is None:
        return loss, None
    return loss, weighted_auc(score, rows.target > 0, rows.weight)


def _each(option: str, given: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what is given for each column of a term: for a product, a pair, or None for both."""
    if len(names) == 1:
        return (given,)
    if given is None:
        return (None,) * len(names)
    if isinstance(given, tuple | list) and len(given) == len(names):
        return tuple(given)
    msg = f"{option} of a product must be a pair, one for each of {names}, got {given!r}."
    raise ValueError(msg)


def _is_of(among: Sequence[str], clause: Clause, kind: Any) -> bool:
    """Tell whether a clause is of some kinds, and of the one that is asked for."""
    return clause.condition.kind in among and kind in (None, clause.condition.kind)


def _asked(value: Any, scale: Scale, feature: str) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple | list | set):
        return tuple(_on_scale(v, scale, feature) for v in value)
    return _on_scale(value, scale, feature)


def _on_scale(value: Any, scale: Scale, feature: str) -> Any:
    try:
        return scale.value(scale.number(value))
    except (ValueError, TypeError) as error:
        msg = f"column {feature!r}: {error}"
        raise ValueError(msg) from error
