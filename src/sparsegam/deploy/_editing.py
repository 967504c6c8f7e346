"""Documented manual edits of a model: after each change, all free coefficients are refitted and the effect recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import NUMBER
from sparsegam._data.table import read_table
from sparsegam._data.target import read_weights
from sparsegam._models.additive import Model
from sparsegam._models.edits import Edit
from sparsegam._models.functions import joint_shares, score_function
from sparsegam._models.scoring import target_of
from sparsegam._models.terms import KINDS, SENSE, Clause, Part, Term, part_name
from sparsegam._models.training import distribution_of
from sparsegam._search.refit import Support, refit
from sparsegam._search.ridge import Ridge, ridge_of
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_number
from sparsegam.inspection._drift import profile_of_columns
from sparsegam.inspection._metrics import weighted_auc
from sparsegam.losses import LOSSES

Key = tuple[Clause, ...]
"""Conditions of a term, which identify it when its coefficient changes."""


@dataclass(frozen=True)
class _Data:
    """Columns in use, as numbers on their scales, target (-1 and 1, or the response) and weights of the rows."""

    columns: dict[str, FloatArray]
    target: FloatArray
    weight: FloatArray

    def design(self, model: Model) -> FloatArray:
        """Return the columns of the terms of a model; ramps are divided by their width, so that they are of order 1."""
        columns = [model.column_of(term, self.columns) / _width(term) for term in model.terms]
        return np.column_stack(columns) if columns else np.zeros((self.target.size, 0))

    def loss_and_auc(self, model: Model) -> tuple[float, float | None]:
        """Return the total loss, and the AUC of a classification model."""
        score = model.intercept + self.design(model) @ np.array([t.coef * _width(t) for t in model.terms])
        loss = LOSSES[model.loss].total(self.target, score, self.weight)
        return loss, None if model.classes is None else weighted_auc(score, self.target > 0, self.weight)


class Editor:
    """Edits a model step by step; after each edit, the other coefficients are refitted and the edit is recorded.

    The direction of a feature is kept: if its contribution was increasing (or decreasing) before an edit, terms that
    would violate this after refitting are removed.

    Parameters
    ----------
    model : Model
        The model to start from, which is not modified.
    X : array-like or data frame of shape (n_samples, n_features)
        Data for refitting and for the recorded loss and AUC, usually the training data.
    y : array-like of shape (n_samples,)
        True labels or target values.
    who : str
        Name of the person who edits, for the record.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    lambda2 : float or "auto", default="auto"
        Ridge penalty of the refits, as in `SparseGAMClassifier`.

    Attributes
    ----------
    model : Model
        The current model. `model.edits` has the record of all edits: what, who, why, when, loss and AUC.

    See Also
    --------
    sparsegam.Model.edit : Create an editor of a model.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> from sparsegam.deploy import Editor
    >>> X = [[a] for a in range(20, 60)]
    >>> y = [int(a > 40) ^ (a % 7 == 0) for (a,) in X]
    >>> model = SparseGAMClassifier(lambda0=2, lambda2=0.001).fit(X, y).model_
    >>> editor = Editor(model, X, y, who="A. Analyst")
    >>> editor.move("x0", 42, 45, why="policy uses multiples of five").terms[0].condition.value
    45.0
    """

    def __init__(
        self, model: Model, X: Any, y: Any, *, who: str, sample_weight: Any = None, lambda2: Any = "auto"
    ) -> None:
        _check_text("who", who)
        table = read_table(X)
        self._data = _Data(
            score_function(model).columns(table),
            target_of(model, y, table.n_rows),
            read_weights(sample_weight, table.n_rows),
        )
        ridge = ridge_of(lambda2, model.loss)
        self._ridge = ridge.times_noise(_noise_share(model, self._data)) if ridge.over_noise else ridge
        self._who = who
        self._fixed: set[Key] = set()
        self._history: list[tuple[Model, set[Key]]] = []
        self.model = model

    def move(self, feature: Part, old: Any, new: Any, *, why: str, kind: Any = None) -> Model:
        """Move a threshold, the knot of a ramp, or the conditions of an interaction, and refit the coefficients.

        Parameters
        ----------
        feature : str or (str, str)
            Feature of the term, or both features of an interaction.
        old, new : value or pair of values
            Its current and its new threshold or knot; for an interaction, those of both conditions.
        why : str
            Reason, for the record.
        kind : {"<=", "ramp"} or pair of {"<=", ">"}, default=None
            Kind of condition, needed only if two terms have the same value.

        Returns
        -------
        Model
            The edited model.
        """
        term = self._find(feature, old, kind, kinds=tuple(SENSE) if isinstance(feature, str) else KINDS)
        values = _per_feature("new", new, term.features)
        first, *other = (self._with_value(clause, value) for clause, value in zip(term.clauses, values, strict=True))
        moved = replace(term, condition=first.condition, also=other[0] if other else None)
        if any(t.clauses == moved.clauses for t in self.model.terms):
            what = "interaction" if term.is_interaction else "ramp" if term.condition.is_ramp else "step"
            remedy = "drop" if term.is_interaction else "merge"
            msg = f"column {feature!r} already has a {what} at {new!r}; {remedy} one of the two instead."
            raise ValueError(msg)
        self._fixed = {moved.clauses if key == term.clauses else key for key in self._fixed}
        terms = [moved if t is term else t for t in self.model.terms]
        return self._apply("move", f"{term.text()} to {moved.text()}", terms, why)

    def merge(self, feature: Part, threshold: Any, *, why: str) -> Model:
        """Remove a threshold, which merges the steps on both sides, and refit the coefficients.

        Parameters
        ----------
        feature : str
            Feature of the step.
        threshold : value
            Its threshold.
        why : str
            Reason, for the record.

        Returns
        -------
        Model
            The edited model.
        """
        if not isinstance(feature, str):
            msg = f"merge needs a single feature, got {feature!r}; drop the interaction instead."
            raise ValueError(msg)
        term = self._find(feature, threshold, "<=")
        terms = [t for t in self.model.terms if t is not term]
        return self._apply("merge", f"the steps on both sides of {term.text()}", terms, why)

    def fix(self, feature: Part, value: Any, coef: float, *, why: str, kind: Any = None) -> Model:
        """Set the coefficient of a term, which later refits keep, and refit the others.

        Parameters
        ----------
        feature : str or (str, str)
            Feature of the term, or both features of an interaction.
        value : value, None or pair of them
            Value of its condition (threshold, level or knot); None for `is missing`.
        coef : float
            The coefficient, on the scale of the score; for a ramp, per unit of the feature.
        why : str
            Reason, for the record.
        kind : {"<=", ">", "==", "in", "missing", "ramp"} or pair of them, default=None
            Kind of condition, needed only if two terms have the same value.

        Returns
        -------
        Model
            The edited model.
        """
        check_number("abs(coef)", abs(coef), at_least=0.0)
        term = self._find(feature, value, kind)
        self._fixed = self._fixed | {term.clauses}
        terms = [replace(t, coef=float(coef)) if t is term else t for t in self.model.terms]
        return self._apply("fix", f"{term.text()} at {coef:g} (was {term.coef:.4g})", terms, why)

    def drop(self, feature: Part, value: Any, *, why: str, kind: Any = None) -> Model:
        """Remove a term, and refit the coefficients.

        Parameters
        ----------
        feature, value, why, kind
            The term and the reason, as in `fix`.

        Returns
        -------
        Model
            The edited model.
        """
        term = self._find(feature, value, kind)
        return self._apply("drop", term.text(), [t for t in self.model.terms if t is not term], why)

    def forbid(self, feature: Part, *, why: str) -> Model:
        """Remove all terms of a feature, or all interactions of a pair of features, and refit the coefficients.

        Parameters
        ----------
        feature : str or (str, str)
            The feature or the pair.
        why : str
            Reason, for the record.

        Returns
        -------
        Model
            The edited model.
        """
        model = self.model
        if feature not in (*model.features, *model.pairs):
            used = ", ".join([*model.features, *map(str, model.pairs)])
            msg = f"the model does not use column {feature!r}; it uses {used}."
            raise ValueError(msg)
        terms = [t for t in model.terms if t.part != feature and feature not in t.features]
        return self._apply("forbid", part_name(feature), terms, why)

    def undo(self) -> Model:
        """Undo the last edit, including its record, and return the model."""
        if not self._history:
            msg = "there is no edit to undo."
            raise ValueError(msg)
        self.model, self._fixed = self._history.pop()
        return self.model

    def _apply(self, action: str, what: str, terms: Sequence[Term], why: str) -> Model:
        _check_text("why", why)
        before, data = self.model, self._data
        after = _refitted(_with_terms(before, tuple(terms), data), before, data, self._fixed, self._ridge)
        (loss_before, auc_before), (loss_after, auc_after) = data.loss_and_auc(before), data.loss_and_auc(after)
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        edit = Edit(action, what, self._who, why, when, loss_before, loss_after, auc_before, auc_after)
        self._history.append((before, set(self._fixed)))
        profile = profile_of_columns(score_function(after), data.columns, data.target.size)
        self.model = replace(after, edits=(*before.edits, edit), stored_profile=profile)
        return self.model

    def _find(self, feature: Part, value: Any, kind: Any = None, kinds: Sequence[str] = KINDS) -> Term:
        """Return the term of a feature or pair that has these values and kinds, else raise ValueError."""
        names = (feature,) if isinstance(feature, str) else tuple(feature)
        values, wanted_kinds = _per_feature("value", value, names), _per_feature("kind", kind, names)
        wanted = [self._on_scale(one, name) for name, one in zip(names, values, strict=True)]
        candidates = [
            term
            for term in self.model.terms
            if term.features == names
            and all(
                clause.condition.kind in kinds and wanted_kind in (None, clause.condition.kind)
                for clause, wanted_kind in zip(term.clauses, wanted_kinds, strict=True)
            )
        ]
        found = [term for term in candidates if [clause.condition.value for clause in term.clauses] == wanted]
        if len(found) == 1:
            return found[0]
        has = ", ".join(term.text() for term in candidates) or "none"
        hint = "; set kind" if found else ""
        msg = f"{value!r} matches {len(found)} terms of column {feature!r}{hint}. Its terms: {has}."
        raise ValueError(msg)

    def _with_value(self, clause: Clause, new: Any) -> Clause:
        condition = clause.condition
        value = self._on_scale(new, clause.feature)
        has_same_type = type(value) is type(condition.value)
        if not has_same_type:
            text = condition.text(clause.feature)
            msg = f"{text} cannot move to {new!r}, a value of another type; drop the term instead."
            raise ValueError(msg)
        if condition.low is not None and value <= condition.low:
            msg = (
                f"the knot of a ramp of {clause.feature!r} must be above {condition.low:g}, where the ramp starts, "
                f"got {value!r}."
            )
            raise ValueError(msg)
        return replace(clause, condition=replace(condition, value=value))

    def _on_scale(self, value: Any, feature: str) -> Any:
        """Convert a value, or several values, to the type that the conditions of a feature contain."""
        if value is None:
            return None
        scale = self.model.scales.get(feature, NUMBER)
        try:
            if isinstance(value, tuple | list | set):
                return tuple(scale.value(scale.number(one)) for one in value)
            return scale.value(scale.number(value))
        except (ValueError, TypeError) as error:
            msg = f"column {feature!r}: {error}"
            raise ValueError(msg) from error


def _check_text(name: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        msg = f"{name} must be a non-empty string, got {text!r}."
        raise ValueError(msg)


def _per_feature(option: str, value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the value of an option for each feature of a term; an interaction needs a pair, or None for both."""
    if len(names) == 1:
        return (value,)
    if value is None:
        return (None,) * len(names)
    if isinstance(value, tuple | list) and len(value) == len(names):
        return tuple(value)
    msg = f"{option} of an interaction must be a pair with one entry for each of {names}, got {value!r}."
    raise ValueError(msg)


def _with_terms(model: Model, terms: tuple[Term, ...], data: _Data) -> Model:
    """Return the model with new terms and with the distribution of the data over the bins of these terms."""
    has_weight = data.weight > 0
    weight = data.weight[has_weight]
    columns = {name: column[has_weight] for name, column in data.columns.items()}
    changed = replace(
        model,
        terms=tuple(replace(term, statistics=None) for term in terms),
        missing="last",
        pair_shares={},
        training=None,
        stored_profile=None,
        statistics=None,
    )
    distributions = {}
    for name in changed.features:
        conditions = [clause.condition for term in terms for clause in term.clauses if clause.feature == name]
        distributions[name] = distribution_of(
            conditions, model.special_values.get(name, ()), model.scale_of(name), columns[name], weight
        )
    changed = replace(changed, distributions=distributions)
    pairs = {
        pair: joint_shares(changed.pair_bins(pair), (columns[pair[0]], columns[pair[1]]), weight)
        for pair in changed.pairs
    }
    return replace(changed, missing=model.missing, pair_shares=pairs)


def _refitted(model: Model, before: Model, data: _Data, fixed: set[Key], ridge: Ridge) -> Model:
    """Refit the intercept and the free coefficients; features that were monotone before the edit stay monotone.

    Coefficients with the wrong sign are set to zero, and the others are refitted, until no sign is wrong.
    """
    design = data.design(model)
    directions = _directions(before)
    signs = np.array([directions.get(term.clauses, 0) for term in model.terms])
    is_fixed = np.array([term.clauses in fixed for term in model.terms], dtype=bool)
    width = np.array([_width(term) for term in model.terms])
    exact = np.array([term.coef for term in model.terms])
    coef = exact * width
    while True:
        start = Support(np.arange(coef.size, dtype=np.int64), np.append(model.intercept, coef))
        theta = _minimise(model, design, start, is_fixed, data, ridge)
        is_wrong = ~is_fixed & (theta[1:] * signs < 0)
        if not is_wrong.any():
            break
        is_fixed, coef = is_fixed | is_wrong, np.where(is_wrong, 0.0, coef)
    # Fixed coefficients are copied, because scaling by the width would change their last digits.
    coefs = np.where(is_fixed & (coef != 0), exact, theta[1:] / width)
    terms = (replace(term, coef=value) for term, value in zip(model.terms, coefs.tolist(), strict=True))
    return model.with_terms(float(theta[0]), (t for t in terms if t.coef or t.clauses in fixed))


def _width(term: Term) -> float:
    """Return the width of a ramp; 1 for other terms."""
    return float(np.ptp(np.array(term.condition.edges, dtype=np.float64))) if term.condition.is_ramp else 1.0


def _directions(model: Model) -> dict[Key, int]:
    """Return the sign of the coefficient of each threshold or ramp of a feature with a monotone contribution."""
    signs: dict[Key, int] = {}
    for name in model.features:
        clauses = ((term.clauses, clause) for term in model.terms for clause in term.clauses if clause.feature == name)
        senses = {key: SENSE[clause.condition.kind] for key, clause in clauses if clause.condition.kind in SENSE}
        directions = {int(np.sign(t.coef)) * senses[t.clauses] for t in model.terms if t.clauses in senses} - {0}
        if len(directions) == 1:
            direction = directions.pop()
            signs |= {key: direction * sense for key, sense in senses.items()}
    return signs


def _minimise(
    model: Model, design: FloatArray, start: Support, is_fixed: NDArray[np.bool_], data: _Data, ridge: Ridge
) -> FloatArray:
    """Minimise loss and ridge over the intercept and the free coefficients.

    For a regression, the mean of the target is subtracted first to avoid cancellation in sums of squares.
    """
    mean = 0.0 if LOSSES[model.loss].is_classifier else float(data.weight @ data.target / data.weight.sum())
    # The core needs at least one column.
    matrix = _core.Matrix(design if design.size else np.zeros((data.target.size, 1)))
    rows = _core.MatrixRows(matrix, data.target - mean, data.weight, loss=model.loss, n_threads=1)
    ramps = np.flatnonzero([term.condition.is_ramp for term in model.terms])
    shift = np.append(mean, np.zeros(start.columns.size))
    fitted = refit(rows, ridge, Support(start.columns, start.theta - shift), held=is_fixed, ramps=ramps)
    theta: FloatArray = fitted.theta + shift
    return theta


def _noise_share(model: Model, data: _Data) -> float:
    """Return 1 - R squared; 1 if the target is constant or its variance overflows."""
    total = data.weight.sum()
    mean = np.full(data.target.size, data.weight @ data.target / total if total > 0 else 0.0)
    loss_of_mean = LOSSES[model.loss].total(data.target, mean, data.weight)
    return min(data.loss_and_auc(model)[0] / loss_of_mean, 1.0) if 0 < loss_of_mean < np.inf else 1.0
