"""Scorecards: whole points per feature step, what they lose against the model, and the risk that a total stands for."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table
from sparsegam._data.target import read_weights
from sparsegam._models.additive import Model
from sparsegam._models.outcomes import events
from sparsegam._models.steps import StepModel, as_table, step_model
from sparsegam.arrays import FloatArray
from sparsegam.deploy._ladder import laddered
from sparsegam.deploy._rounding import Patterns, Points, patterns_of, round_small, round_to_line
from sparsegam.deploy._scaling import Scaling
from sparsegam.inspection._metrics import log_loss, weight_of_evidence, weighted_auc
from sparsegam.losses import LOSSES

if TYPE_CHECKING:
    from sparsegam.deploy._counterfactual import Counterfactual

MAX_RISK_LINES = 25  # totals that are listed one by one; more are put into bands


@dataclass(frozen=True)
class Rounding:
    """What whole points cost: area under the ROC curve and log loss per row, before and after."""

    n_rows: int
    auc_before: float
    auc_after: float
    log_loss_before: float
    log_loss_after: float

    def __str__(self) -> str:
        return (
            f"on {self.n_rows} rows: AUC {self.auc_before:.4f} before rounding, {self.auc_after:.4f} after; "
            f"log loss {self.log_loss_before:.4f} before, {self.log_loss_after:.4f} after"
        )


@dataclass(frozen=True)
class RiskLine:
    """Totals from `low` to `high`: how many rows and events were there, their rate, and the risk of the formula."""

    low: int
    high: int
    rows: float
    events: float
    rate: float
    risk: float

    def cells(self) -> list[str]:
        """Return the line as text: totals, rows, events, rate and risk."""
        totals = str(self.low) if self.low == self.high else f"{self.low} to {self.high}"
        return [totals, f"{self.rows:.0f}", f"{self.events:.0f}", f"{self.rate:.1%}", f"{self.risk:.1%}"]


@dataclass(frozen=True)
class Scorecard:
    """Base points and whole points per step; `steps` holds them, and all exports take a scorecard for a model.

    Attributes
    ----------
    steps : StepModel
        The points, and the line from a total to the log odds of the second class.
    scaling : Scaling
        How it was asked for.
    rounding : Rounding or None
        What the whole numbers cost, where rows were given.
    counts, events : tuple of ndarray
        Rows in each step, by feature, then in each cell, by pair, where rows were given, and those of the second class.
    risks : tuple of RiskLine
        Totals and their risk, where rows were given.
    """

    steps: StepModel
    scaling: Scaling
    rounding: Rounding | None = None
    counts: tuple[FloatArray, ...] = ()
    events: tuple[FloatArray, ...] = ()
    risks: tuple[RiskLine, ...] = ()

    @property
    def base(self) -> int:
        """Base points."""
        return int(self.steps.base)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that have points."""
        return self.steps.features

    def score(self, X: Any) -> Points:
        """Return the total points of each row."""
        return np.rint(self.steps.score(X)).astype(np.int64)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, one column per class."""
        upper = self.steps.probability(self.steps.score(X))
        return np.column_stack([1.0 - upper, upper])

    def table(self) -> list[dict[str, Any]]:
        """Return the card as rows with feature, step and points.

        Where rows were given, also how many a step has, their share of all, the events among them and their rate, the
        weight of evidence (None without events or without others) and what the step adds to the information value.
        """
        rows: list[dict[str, Any]] = []
        for j, part in enumerate(self.steps.parts):
            counted = self._counted(j) if self.counts else [{}] * part.adds.size
            for text, points, more in zip(part.labels(), part.adds.ravel().tolist(), counted, strict=True):
                rows.append({"feature": part.name, "step": text, "points": int(points)} | more)
        return rows

    def _counted(self, j: int) -> list[dict[str, Any]]:
        rows, events = self.counts[j], self.events[j]
        woe, iv = weight_of_evidence(rows, events)
        each = zip(rows.tolist(), events.tolist(), woe.tolist(), iv.tolist(), strict=True)
        return [
            {
                "rows": n,
                "share": n / float(rows.sum()),
                "events": upper,
                "event_rate": upper / n if n else None,
                "woe": None if math.isnan(weight) else weight,
                "iv": adds,
            }
            for n, upper, weight, adds in each
        ]

    @property
    def information_values(self) -> dict[str, float]:
        """The information value of each feature over its steps, and of each pair, where rows were given."""
        names = [part.name for part in self.steps.parts] if self.counts else []
        return {name: sum(line["iv"] for line in self._counted(j)) for j, name in enumerate(names)}

    def to_frame(self) -> Any:
        """Return the lines of `table` as a frame; the base points are `base`."""
        lines = self.table()
        return make_frame({name: [line[name] for line in lines] for name in (lines[0] if lines else ("feature",))})

    def formula(self) -> str:
        """Write how a total becomes a probability."""
        label = "event" if self.steps.classes is None else self.steps.classes[1]
        return f"P({label}) = 1 / (1 + exp(-({self.steps.shift:.6g} {self.steps.slope:+.6g} x points)))"

    def counterfactual(
        self,
        row: Any,
        *,
        target: float,
        fixed: Sequence[str] = (),
        directions: Mapping[str, str] | None = None,
        cost: str | Mapping[str, float] | None = None,
    ) -> "Counterfactual":
        """Return the cheapest changes that bring a row to as many points; see `sparsegam.deploy._counterfactual`."""
        from sparsegam.deploy._counterfactual import counterfactual

        return counterfactual(self, row, target=target, fixed=fixed, directions=directions, cost=cost)

    def to_html(self) -> str:
        """Return the card as a page of its own, to be read or printed."""
        from sparsegam.deploy._scorecard_view import to_html

        return to_html(self)

    def to_csv(self) -> str:
        """Return the card as CSV text."""
        from sparsegam.deploy._scorecard_view import to_csv

        return to_csv(self)

    def to_excel(self, path: Any) -> None:
        """Write the card as a workbook; needs openpyxl."""
        from sparsegam.deploy._scorecard_view import to_excel

        to_excel(self, path)

    def __str__(self) -> str:
        from sparsegam.deploy._scorecard_view import to_text

        return to_text(self)

    def __repr__(self) -> str:
        low, high = self.steps.range()
        return f"<Scorecard: {len(self.features)} features, {low:.0f} to {high:.0f} points>"

    def _repr_html_(self) -> str:
        from sparsegam.deploy._scorecard_view import to_notebook

        return to_notebook(self)


def scorecard(model: Model, X: Any = None, y: Any = None, *, sample_weight: Any = None, **scaling: Any) -> Scorecard:
    """Turn a classification model into whole points.

    Parameters
    ----------
    model : Model
        The model.
    X, y : table and labels, optional
        Rows on which the roundings are searched together for the lowest log loss, usually those of the fit. Without
        them every coefficient is rounded by itself, and nothing can be reported.
    sample_weight : array-like, optional
        Weights of the rows.
    **scaling
        The attributes of Scaling: `method`, `pdo`, `odds`, `base_points`, `lowest`, `highest`, `multiplier`,
        `max_points`, `max_terms`, `direction`, `base`, `nonnegative`.

    Returns
    -------
    Scorecard
        The card.
    """
    options = Scaling(**scaling)
    _check_classes(model)
    if (X is None) != (y is None) or (X is None and options.method == "small"):
        msg = "a scorecard needs both X and y (method='small' always does): pass the rows of the fit."
        raise ValueError(msg)
    if X is None:
        stepped = _laddered(model, options)
        return _card(stepped, *_points(stepped, None, options), options)
    rows = as_table(X)
    return _reported(*best_rounding([model], rows, y, sample_weight, options), rows, y, sample_weight)


def best_scorecard(models: Iterable[Model], X: Any, y: Any, *, sample_weight: Any = None, **scaling: Any) -> Scorecard:
    """Make a scorecard of each of several models and return the one with the lowest log loss on the rows.

    For small points: terms that are best with real coefficients need not be best with points from -5 to 5, so that a
    card of ten terms may be found in a model of fifteen (`max_terms=10`).

    Parameters
    ----------
    models : iterable of Model
        The models, such as those of a path.
    X, y : table and labels
        The rows.
    sample_weight : array-like, optional
        Weights of the rows.
    **scaling
        The attributes of Scaling.

    Returns
    -------
    Scorecard
        The best card.
    """
    rows = as_table(X)
    return _reported(*best_rounding(models, rows, y, sample_weight, Scaling(**scaling)), rows, y, sample_weight)


def best_rounding(
    models: Iterable[Model], rows: Table, y: Any, sample_weight: Any, options: Scaling
) -> tuple[Scorecard, Model]:
    """Round each of several models; return the card with the lowest log loss, without a report, and its model."""
    best, lowest = None, math.inf
    for model in models:
        _check_classes(model)
        stepped = _laddered(model, options)
        patterns = patterns_of(stepped, rows, y, sample_weight)
        points, a, b = _points(stepped, patterns, options)
        loss = float(patterns.loss((a + b * (points[0] + patterns.holds @ points[1:]))[:, None])[0])
        if best is None or loss < lowest:
            best, lowest = (_card(stepped, points, a, b, options), model), loss
    if best is None:
        msg = "models is empty: pass at least one, such as path.models[5:10]."
        raise ValueError(msg)
    return best


def _check_classes(model: Model) -> None:
    if model.classes is None:
        msg = "a scorecard needs a classification model; this one is a regression: its predictions are in units of y."
        raise ValueError(msg)


def _laddered(model: Model, options: Scaling) -> Model:
    """Cut ramps into ranges of a point or more each, or of as many as small points can tell apart."""
    slope = LOSSES[model.loss].slope
    factor, _ = options.line(*(slope * end for end in step_model(model).range()))
    if options.method == "small":
        return laddered(model, lambda _: options.max_points)
    return laddered(model, lambda rise: round(abs(factor * slope * rise)))


def _card(model: Model, points: Points, a: float, b: float, options: Scaling) -> Scorecard:
    steps = step_model(_pointed(model, points))
    # what no row of the fit had has the mean of the points, which need not be whole
    whole = replace(steps.changed([lambda adds: float(round(adds))] * len(steps.parts)), slope=b, shift=a)
    return Scorecard(_shifted(whole, options), options)


def _points(model: Model, patterns: Patterns | None, options: Scaling) -> tuple[Points, float, float]:
    """Return base and points of each term, and the line from totals to log odds of the second class."""
    slope = LOSSES[model.loss].slope
    coef = slope * np.array([term.coef for term in model.terms], dtype=np.float64)
    if options.method == "small" and patterns is not None:
        points, a, b = round_small(patterns, options.sign * coef, options.max_points, options.max_terms)
        return np.concatenate([[0], points]), a, b
    low, high = (slope * end for end in step_model(model).range())
    factor, offset = options.line(low, high)
    a, b = -options.sign * offset / factor, options.sign / factor
    exact = options.sign * factor * np.concatenate([[slope * model.intercept], coef])
    exact[0] += offset
    points = np.rint(exact).astype(np.int64) if patterns is None else round_to_line(patterns, exact, a, b)
    return points, a, b


def _pointed(model: Model, points: Points) -> Model:
    """Put points in place of coefficients; terms that got none are gone."""
    terms = (replace(term, coef=float(p)) for term, p in zip(model.terms, points[1:], strict=True))
    return replace(model, intercept=float(points[0])).keeping(term for term in terms if term.coef)


def _shifted(steps: StepModel, options: Scaling) -> StepModel:
    """Move points between the base and the features, as asked for; totals stay, but that `small` starts from zero."""
    moves = [-int(part.adds.min()) if options.nonnegative else 0 for part in steps.parts]
    base = int(steps.base) - sum(moves)
    shift = steps.shift
    if options.method == "small":
        base, shift = 0, steps.shift + steps.slope * base
    if options.base == "folded" and moves:
        each, left = divmod(base, len(moves))
        moves = [move + each + (j < left) for j, move in enumerate(moves)]
        base = 0
    moved = replace(steps.changed([partial(add, move) for move in moves]), base=float(base), shift=shift)
    if options.nonnegative and options.base == "folded" and min((p.adds.min() for p in moved.parts), default=0) < 0:
        msg = "the base points are too low to keep all steps at zero or above: raise base_points, or use base='apart'."
        raise ValueError(msg)
    return moved


def _reported(card: Scorecard, model: Model, rows: Table, y: Any, sample_weight: Any) -> Scorecard:
    """Add what the rows say: what rounding cost, how many rows each step has, the risk of each total."""
    event = events(model, y, rows.n_rows)
    weight = read_weights(sample_weight, event.size)
    total = card.score(rows)
    scored = [(step_model(model), step_model(model).score(rows)), (card.steps, total.astype(np.float64))]
    log_odds = [steps.log_odds(score) for steps, score in scored]
    auc = [weighted_auc(odds, event, weight) for odds in log_odds]
    loss = [float(np.average(log_loss(odds, event), weights=weight)) for odds in log_odds]
    located = list(zip(card.steps.locate(rows), card.steps.parts, strict=True))
    counts, upper = (
        tuple(np.bincount(where, mine, part.adds.size).astype(np.float64) for where, part in located)
        for mine in (weight, weight * event)
    )
    risks = tuple(_risk_lines(card, total, event, weight))
    return replace(card, rounding=Rounding(event.size, *auc, *loss), counts=counts, events=upper, risks=risks)


def _risk_lines(card: Scorecard, total: Points, event: NDArray[np.bool_], weight: FloatArray) -> list[RiskLine]:
    lines = []
    for low, high in _bands(np.unique(total), card.scaling):
        inside = (total >= low) & (total <= high)
        rows, events = float(weight[inside].sum()), float(weight[inside & event].sum())
        if rows:
            mean = np.average(card.steps.probability(total[inside].astype(np.float64)), weights=weight[inside])
            lines.append(RiskLine(low, high, rows, events, events / rows, float(mean)))
    return lines


def _bands(totals: Points, options: Scaling) -> Sequence[tuple[int, int]]:
    """List the totals one by one where they are few, else in bands of equal width."""
    if totals.size <= MAX_RISK_LINES:
        return [(int(t), int(t)) for t in totals]
    wide = math.ceil(float(np.ptp(totals)) / MAX_RISK_LINES)
    width = max(round(options.pdo), wide) if options.method == "pdo" else max(wide, 1)
    start = int(totals[0]) // width * width
    return [(low, low + width - 1) for low in range(start, int(totals[-1]) + 1, width)]
