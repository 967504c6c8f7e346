"""Scorecards: integer points per step of a model, the effect of rounding, and the probability of each total."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, read_table
from sparsegam._data.target import read_weights
from sparsegam._io.writing import save_workbook
from sparsegam._models.additive import Model
from sparsegam._models.display import DisplayedResult, TextTable, page
from sparsegam._models.functions import ScoreFunction, score_function
from sparsegam._models.scoring import events
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_boolean, check_choice, check_integer, check_number, check_xml_text, optional
from sparsegam.choices import PointsDirection, PointsMethod
from sparsegam.deploy._rounding import Patterns, Points, patterns_of, replace_ramps, round_small, round_to_line
from sparsegam.inspection._metrics import log_loss, weight_of_evidence, weighted_auc
from sparsegam.losses import LOSSES
from sparsegam.path import gam_path

if TYPE_CHECKING:
    from sparsegam.deploy._counterfactual import Counterfactual

METHODS = get_args(PointsMethod)
DIRECTIONS = {"higher_is_safer": -1, "higher_is_riskier": 1}
BASES = ("apart", "folded")
MAX_RISK_BANDS = 25
EXTRA_TERMS = 5
"""Terms searched beyond the size of a small scorecard, so that rounding can drop the least useful ones."""


@dataclass(frozen=True)
class Scaling:
    """Conversion of log-odds to points; the attributes are the scaling parameters of `scorecard`."""

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
        for name, value in (("pdo", self.pdo), ("odds", self.odds), ("multiplier", self.multiplier)):
            check_number(name, value, at_least=0.0)
            if value == 0:
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
        """1 if points increase with the probability of the positive class, -1 if they decrease."""
        default = "higher_is_riskier" if self.method == "small" else "higher_is_safer"
        return DIRECTIONS[self.direction or default]

    def line(self, low: float, high: float) -> tuple[float, float]:
        """Return factor and offset of points = offset + factor * sign * log-odds, for log-odds from low to high."""
        if self.method == "pdo":
            factor = self.pdo / math.log(2)
            return factor, self.base_points - factor * math.log(self.odds)
        if self.method == "min_max":
            factor = (self.highest - self.lowest) / (high - low or 1.0)
            return factor, self.lowest - factor * min(self.sign * low, self.sign * high)
        return self.multiplier, 0.0


@dataclass(frozen=True)
class Rounding:
    """AUC and log loss per row of the model (before) and of its scorecard (after)."""

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
class RiskBand:
    """Rows with totals from `low` to `high`.

    `rows` and `events` are weighted counts, `rate` is the observed share of events, and `risk` the mean probability
    of the positive class by the formula of the scorecard.
    """

    low: int
    high: int
    rows: float
    events: float
    rate: float
    risk: float


@dataclass(frozen=True, repr=False)
class Scorecard(DisplayedResult):
    """Integer points for the steps of each feature; the total gives the probability of the positive class.

    Made by `scorecard`, `best_scorecard`, `small_scorecard` or `Model.scorecard`. The functions of `sparsegam.export`,
    `reason_codes` and `counterfactual` accept a scorecard in place of a model. It prints as a table.

    Attributes
    ----------
    score_function : ScoreFunction
        The points of each step, and the linear map from total points to log-odds of the positive class.
    scaling : Scaling
        The scaling parameters.
    rounding : Rounding or None
        AUC and log loss before and after rounding; None if the scorecard was made without data.
    counts, events : tuple of ndarray
        Weighted number of rows and of rows of the positive class: for each feature, then for each pair of features
        with interactions, one value per step or cell. Empty if the scorecard was made without data.
    risks : tuple of RiskBand
        Observed and predicted risk of bands of totals. Empty if the scorecard was made without data.
    model : Model or None
        The model that was converted; None if the scorecard was made by hand.

    See Also
    --------
    scorecard : Convert a model to a scorecard.
    """

    score_function: ScoreFunction
    scaling: Scaling
    rounding: Rounding | None = None
    counts: tuple[FloatArray, ...] = ()
    events: tuple[FloatArray, ...] = ()
    risks: tuple[RiskBand, ...] = ()
    model: Model | None = field(default=None, compare=False, repr=False)

    @property
    def base(self) -> int:
        """Base points."""
        return int(self.score_function.base)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that have points."""
        return self.score_function.features

    @property
    def information_values(self) -> dict[str, float]:
        """Information value of each feature and each pair of features; empty if made without data."""
        names = [function.name for function in self.score_function.functions] if self.counts else []
        return {name: sum(line["iv"] for line in self._statistics(j)) for j, name in enumerate(names)}

    def score(self, X: Any) -> Points:
        """Return the total points of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Totals, including the base points.
        """
        return np.rint(self.score_function.score(X)).astype(np.int64)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of both classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The positive class is last.
        """
        positive = self.score_function.probability(self.score_function.score(X))
        return np.column_stack([1.0 - positive, positive])

    def formula(self) -> str:
        """Return the formula from the total to the probability of the positive class."""
        label = "event" if self.score_function.classes is None else self.score_function.classes[1]
        shift, slope = self.score_function.shift, self.score_function.slope
        return f"P({label}) = 1 / (1 + exp(-({shift:.6g} {slope:+.6g} x points)))"

    def table(self) -> list[dict[str, Any]]:
        """Return one dict per step with feature, step and points.

        If the scorecard was made with data, also rows, share, events and event_rate of the step, its weight of
        evidence woe (None without events or without non-events) and its contribution iv to the information value.
        """
        lines: list[dict[str, Any]] = []
        for j, function in enumerate(self.score_function.functions):
            all_points = function.contributions.ravel().tolist()
            statistics = self._statistics(j) if self.counts else [{}] * len(all_points)
            for label, points, more in zip(function.labels(), all_points, statistics, strict=True):
                lines.append({"feature": function.name, "step": label, "points": int(points)} | more)
        return lines

    def to_frame(self) -> Any:
        """Return `table` as a data frame; the base points are not included."""
        lines = self.table()
        return make_frame({name: [line[name] for line in lines] for name in (lines[0] if lines else ("feature",))})

    def to_html(self) -> str:
        """Return the scorecard as an HTML page without scripts."""
        return page("Scorecard", *self._html_parts())

    def to_csv(self) -> str:
        """Return the base points and the lines of `table` as CSV."""
        header, *lines = self._spreadsheet()
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([header, ["", "base", self.base, *[""] * (len(header) - 3)], *lines])
        return out.getvalue()

    def to_excel(self, path: Any) -> None:
        """Write the scorecard, the risk table and notes to an Excel workbook; needs openpyxl."""
        openpyxl = optional("openpyxl", "workbooks", extra="excel")
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Scorecard"
        header, *lines = self._spreadsheet()
        for line in [header, ["base points", "", self.base], *lines]:
            for cell in line[:2]:
                check_xml_text(str(cell), "Excel")
            sheet.append(line)
        if self.risks:
            risks = book.create_sheet("Risk")
            risks.append(["from", "to", "rows", "events", "observed", "risk"])
            for band in self.risks:
                risks.append(astuple(band))
        about = book.create_sheet("About")
        for note in self._notes():
            about.append([note])
        save_workbook(book, path)

    def counterfactual(
        self,
        row: Any,
        *,
        target: float,
        fixed: Sequence[str] = (),
        directions: Mapping[str, str] | None = None,
        cost: str | Mapping[str, float] | None = None,
    ) -> "Counterfactual":
        """Return the cheapest changes that bring a row to `target` points; see `sparsegam.deploy.counterfactual`."""
        from sparsegam.deploy._counterfactual import counterfactual

        return counterfactual(self, row, target=target, fixed=fixed, directions=directions, cost=cost)

    def __repr__(self) -> str:
        low, high = self.score_function.range()
        return f"<Scorecard: {len(self.features)} features, {low:.0f} to {high:.0f} points>"

    def _statistics(self, j: int) -> list[dict[str, Any]]:
        rows, events = self.counts[j], self.events[j]
        woe, iv = weight_of_evidence(rows, events)
        return [
            {
                "rows": n,
                "share": n / float(rows.sum()),
                "events": n_events,
                "event_rate": n_events / n if n else None,
                "woe": None if math.isnan(weight) else weight,
                "iv": value,
            }
            for n, n_events, weight, value in zip(
                rows.tolist(), events.tolist(), woe.tolist(), iv.tolist(), strict=True
            )
        ]

    def _spreadsheet(self) -> list[list[Any]]:
        header = ["feature", "step", "points"]
        if self.counts:
            header += ["rows", "share", "events", "event_rate", "woe", "iv"]
        return [header, *([_safe_cell(line[name]) for name in header] for line in self.table())]

    def _display(self) -> list[str | TextTable]:
        """Return the points of features, a table per pair of features, notes, and the risk table."""
        header, rows = ["feature", "step", "points"], []
        if self.counts:
            header += ["rows", "share", "events", "event rate", "WoE", "IV"]
        if self.base:
            rows.append(["base points", "", str(self.base), *[""] * (len(header) - 3)])
        previous = ""
        for line in self.table()[: sum(len(function.bins) for function in self.score_function.of_features)]:
            cells = ["" if line["feature"] == previous else line["feature"], line["step"], str(line["points"])]
            previous = line["feature"]
            if self.counts:
                cells += [f"{line['rows']:.0f}", f"{line['share']:.1%}", f"{line['events']:.0f}"]
                cells.append("" if line["event_rate"] is None else f"{line['event_rate']:.1%}")
                cells.append("" if line["woe"] is None else f"{line['woe']:+.3f}")
                cells.append(f"{line['iv']:.4f}")
            rows.append(cells)
        parts: list[str | TextTable] = [TextTable(header, rows)]
        for j, pair in enumerate(self.score_function.of_pairs, start=len(self.score_function.of_features)):
            first, second = pair.pair
            down, across = ([bin_.label for bin_ in axis.bins] for axis in pair.axes)
            points = [f"{value:.0f}" for value in pair.contributions.ravel().tolist()]
            if self.counts:
                points = [f"{cell} ({n:.0f})" for cell, n in zip(points, self.counts[j].tolist(), strict=True)]
            title = f"{first} (down), {second} (across): points{' (rows)' if self.counts else ''}"
            rows = [[label, *points[i * len(across) : (i + 1) * len(across)]] for i, label in enumerate(down)]
            parts.append(TextTable([title, *across], rows, n_text=1))
        parts += self._notes()
        if self.risks:
            rows = [
                [
                    str(band.low) if band.low == band.high else f"{band.low} to {band.high}",
                    f"{band.rows:.0f}",
                    f"{band.events:.0f}",
                    f"{band.rate:.1%}",
                    f"{band.risk:.1%}",
                ]
                for band in self.risks
            ]
            parts.append(TextTable(["points", "rows", "events", "observed", "risk"], rows, n_text=1))
        return parts

    def _notes(self) -> list[str]:
        label = "" if self.score_function.classes is None else self.score_function.classes[1]
        low, high = self.score_function.range()
        base = "the base points and " if self.base else ""
        pairs = ", and the points of the cell of each pair of features" if self.score_function.of_pairs else ""
        rise = "rise" if self.scaling.sign > 0 else "fall"
        add_up = f"Add {base}the points of the first line that applies for each feature{pairs}."
        totals = f"Totals range from {low:.0f} to {high:.0f} and {rise} with the probability of {label!r}."
        notes = [f"{add_up} {totals}", self.formula()]
        if self.rounding is not None:
            notes.append(f"Rounding, {self.rounding}.")
        if self.counts:
            ordered = sorted(self.information_values.items(), key=lambda item: -item[1])
            notes.append("Information values: " + ", ".join(f"{name} {value:.3f}" for name, value in ordered) + ".")
        return notes


def scorecard(  # noqa: PLR0913
    model: Model,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    method: PointsMethod = "pdo",
    pdo: float = 20.0,
    odds: float = 50.0,
    base_points: float = 600.0,
    lowest: int = 300,
    highest: int = 850,
    multiplier: float = 100.0,
    max_points: int = 5,
    max_terms: int | None = None,
    direction: PointsDirection | None = None,
    base: Literal["apart", "folded"] = "apart",
    nonnegative: bool = False,
) -> Scorecard:
    """Convert a classification model to integer points.

    Parameters
    ----------
    model : Model
        A classification model. Its ramps become ranges of constant points.
    X : array-like or data frame of shape (n_samples, n_features), default=None
        Usually the training data. Points are optimised together for the lowest log loss on these rows, and the
        scorecard reports counts, AUC and risk. Without data each coefficient is rounded independently.
    y : array-like of shape (n_samples,), default=None
        True labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    method : {"pdo", "min_max", "plain", "small"}, default="pdo"
        "pdo": `base_points` correspond to odds of `odds` to 1, and `pdo` more points double the odds. "min_max": the
        possible totals range from `lowest` to `highest`. "plain": `multiplier` points per unit of log-odds. "small":
        at most `max_points` points per term, for totals that are added up by hand; needs X and y.
    pdo, odds, base_points : float, default=20, 50, 600
        Points that double the odds, and the odds at the base points, for `method="pdo"`.
    lowest, highest : int, default=300, 850
        Range of totals for `method="min_max"`.
    multiplier : float, default=100
        Points per unit of log-odds for `method="plain"`.
    max_points : int, default=5
        Maximum absolute number of points of a term for `method="small"`.
    max_terms : int, default=None
        Maximum number of terms for `method="small"`.
    direction : {"higher_is_safer", "higher_is_riskier"}, default=None
        Whether points decrease or increase with the probability of the positive class. None is "higher_is_safer", as in
        credit scoring, but "higher_is_riskier" for `method="small"`, as in medicine.
    base : {"apart", "folded"}, default="apart"
        Whether base points are a separate line or are distributed evenly over the features.
    nonnegative : bool, default=False
        Shift the points of each feature such that its lowest is zero; the base points compensate.

    Returns
    -------
    Scorecard
        The scorecard, which prints as a table.

    See Also
    --------
    best_scorecard : Choose the best of several models.
    small_scorecard : Search for a small scorecard directly from data.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> from sparsegam.deploy import scorecard
    >>> X = [[a] for a in range(20, 60)]
    >>> y = [int(a > 40) ^ (a % 7 == 0) for (a,) in X]
    >>> card = scorecard(SparseGAMClassifier(max_terms=1).fit(X, y).model_, X, y)
    >>> card.score([[30], [50]]).tolist()
    [502, 478]
    """
    options = Scaling(
        method=method,
        pdo=pdo,
        odds=odds,
        base_points=base_points,
        lowest=lowest,
        highest=highest,
        multiplier=multiplier,
        max_points=max_points,
        max_terms=max_terms,
        direction=direction,
        base=base,
        nonnegative=nonnegative,
    )
    if (X is None) != (y is None) or (X is None and options.method == "small"):
        msg = "X and y must be passed together, and method='small' requires them: pass the training data."
        raise ValueError(msg)
    if X is None:
        stepped = _without_ramps(model, options)
        return replace(_with_points(stepped, *_points(stepped, None, options), options), model=model)
    return _best([model], read_table(X), y, sample_weight, options)


def best_scorecard(models: Iterable[Model], X: Any, y: Any, *, sample_weight: Any = None, **scaling: Any) -> Scorecard:
    """Convert several models to scorecards and return the one with the lowest log loss.

    The terms that are best with real coefficients need not be the best ones with small integer points. A scorecard of
    ten terms (`max_terms=10`) may come from a model of fifteen.

    Parameters
    ----------
    models : iterable of Model
        Classification models, such as `path.models[5:10]`.
    X : array-like or data frame of shape (n_samples, n_features)
        Usually the training data.
    y : array-like of shape (n_samples,)
        True labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    **scaling
        Scaling parameters of `scorecard`.

    Returns
    -------
    Scorecard
        The best scorecard.

    See Also
    --------
    small_scorecard : Also search for the models.
    """
    return _best(models, read_table(X), y, sample_weight, Scaling(**scaling))


def small_scorecard(
    X: Any,
    y: Any,
    *,
    max_terms: int = 5,
    sample_weight: Any = None,
    scaling: dict[str, Any] | None = None,
    **search: Any,
) -> Scorecard:
    """Search for a scorecard of few terms and small integer points.

    The best models of `max_terms` and of a few more terms are searched and rounded; rounding drops the terms that are
    least useful with integer points. The scorecard with the lowest log loss is returned.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    max_terms : int, default=5
        Maximum number of terms.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    scaling : dict, default=None
        Parameters `max_points` (default 5), `direction`, `nonnegative` and `base` of `scorecard`.
    **search
        Parameters of `gam_path`, such as `special_values`, `monotone`, `features_never` or `lambda2`.

    Returns
    -------
    Scorecard
        The scorecard.

    See Also
    --------
    scorecard : Convert a fitted model.

    Examples
    --------
    >>> from sparsegam.deploy import small_scorecard
    >>> X = [[a] for a in range(20, 60)]
    >>> card = small_scorecard(X, [int(a > 40) ^ (a % 7 == 0) for (a,) in X], max_terms=1)
    >>> [(line["step"], line["points"]) for line in card.table()]
    [('missing: no training rows', -1), ('<= 42', -1), ('> 42', 0)]
    """
    check_integer("max_terms", max_terms, at_least=1)
    if search.get("features_always") is not None:
        msg = "features_always is not supported, because rounding may drop terms; remove it or use model.scorecard."
        raise ValueError(msg)
    table = read_table(X).load()
    path = gam_path(table, y, max_terms=max_terms + EXTRA_TERMS, sample_weight=sample_weight, **search)
    models = path.models[max_terms:] or path.models[-1:]
    options: dict[str, Any] = {"method": "small", "max_terms": max_terms} | (scaling or {})
    return _best(models, table, y, sample_weight, Scaling(**options))


def _best(models: Iterable[Model], table: Table, y: Any, sample_weight: Any, options: Scaling) -> Scorecard:
    """Return the scorecard with the lowest log loss, with its statistics on the rows of the table."""
    best: tuple[Scorecard, Model] | None = None
    lowest = math.inf
    for model in models:
        stepped = _without_ramps(model, options)
        patterns = patterns_of(stepped, table, y, sample_weight)
        points, a, b = _points(stepped, patterns, options)
        loss = float(patterns.loss((a + b * (points[0] + patterns.holds @ points[1:]))[:, None])[0])
        if best is None or loss < lowest:
            best, lowest = (_with_points(stepped, points, a, b, options), model), loss
    if best is None:
        msg = "models is empty; pass at least one model, such as path.models[5:10]."
        raise ValueError(msg)
    return _with_statistics(*best, table, y, sample_weight)


def _without_ramps(model: Model, options: Scaling) -> Model:
    """Replace ramps by ranges that differ by about a point, or by `max_points` ranges for small points."""
    if model.classes is None:
        msg = "a scorecard needs a classification model, got a regression."
        raise ValueError(msg)
    if options.method == "small":
        return replace_ramps(model, lambda _: options.max_points)
    slope = LOSSES[model.loss].slope
    factor, _ = options.line(*(slope * end for end in score_function(model).range()))
    return replace_ramps(model, lambda change: round(abs(factor * slope * change)))


def _points(model: Model, patterns: Patterns | None, options: Scaling) -> tuple[Points, float, float]:
    """Return the points (base points first), and intercept and slope of the log-odds as a function of the total."""
    slope = LOSSES[model.loss].slope
    coef = slope * np.array([term.coef for term in model.terms], dtype=np.float64)
    if options.method == "small" and patterns is not None:
        points, a, b = round_small(patterns, options.sign * coef, options.max_points, options.max_terms)
        return np.concatenate([[0], points]), a, b
    low, high = (slope * end for end in score_function(model).range())
    factor, offset = options.line(low, high)
    a, b = -options.sign * offset / factor, options.sign / factor
    exact = options.sign * factor * np.concatenate([[slope * model.intercept], coef])
    exact[0] += offset
    points = np.rint(exact).astype(np.int64) if patterns is None else round_to_line(patterns, exact, a, b)
    return points, a, b


def _with_points(model: Model, points: Points, a: float, b: float, options: Scaling) -> Scorecard:
    """Return the scorecard with the given points for the intercept and the terms; terms without points are dropped."""
    terms = (replace(term, coef=float(p)) for term, p in zip(model.terms, points[1:], strict=True))
    pointed = model.with_terms(float(points[0]), (term for term in terms if term.coef))
    score = score_function(pointed)
    # Values that did not occur in training are scored at the mean, which need not be an integer.
    score = replace(score.changed([np.rint] * len(score.functions)), slope=b, shift=a)
    return Scorecard(_move_base(score, options), options)


def _move_base(score: ScoreFunction, options: Scaling) -> ScoreFunction:
    """Move points between the base points and the features for `nonnegative` and `base`.

    Totals stay the same, except for small points: their totals start from zero, and the map to log-odds is shifted.
    """
    shifts = [-int(one.contributions.min()) if options.nonnegative else 0 for one in score.functions]
    base = int(score.base) - sum(shifts)
    shift = score.shift
    if options.method == "small":
        base, shift = 0, score.shift + score.slope * base
    if options.base == "folded" and shifts:
        each, rest = divmod(base, len(shifts))
        shifts = [value + each + (j < rest) for j, value in enumerate(shifts)]
        base = 0
    moved = replace(score.changed([partial(np.add, value) for value in shifts]), base=float(base), shift=shift)
    lowest = min((one.contributions.min() for one in moved.functions), default=0)
    if options.nonnegative and options.base == "folded" and lowest < 0:
        msg = "the base points are too low for nonnegative=True; raise base_points or use base='apart'."
        raise ValueError(msg)
    return moved


def _with_statistics(card: Scorecard, model: Model, table: Table, y: Any, sample_weight: Any) -> Scorecard:
    """Add the effect of rounding, the rows and events of each step, and the risk of bands of totals."""
    event = events(model, y, table.n_rows)
    weight = read_weights(sample_weight, event.size)
    total = card.score(table)
    exact = score_function(model)
    before = exact.log_odds(exact.score(table))
    after = card.score_function.log_odds(total.astype(np.float64))
    aucs = [weighted_auc(log_odds, event, weight) for log_odds in (before, after)]
    losses = [float(np.average(log_loss(log_odds, event), weights=weight)) for log_odds in (before, after)]
    columns = card.score_function.columns(table)
    located = [(one.bin_of(columns), one) for one in card.score_function.functions]
    counts, positive_counts = (
        tuple(np.bincount(where, mass, one.contributions.size).astype(np.float64) for where, one in located)
        for mass in (weight, weight * event)
    )
    return replace(
        card,
        model=model,
        rounding=Rounding(event.size, *aucs, *losses),
        counts=counts,
        events=positive_counts,
        risks=tuple(_risk_bands(card, total, event, weight)),
    )


def _risk_bands(card: Scorecard, total: Points, event: NDArray[np.bool_], weight: FloatArray) -> list[RiskBand]:
    """Return one band per total, or bands of equal width if there are more than MAX_RISK_BANDS totals."""
    totals, options = np.unique(total), card.scaling
    if totals.size <= MAX_RISK_BANDS:
        limits = [(int(t), int(t)) for t in totals]
    else:
        width = max(math.ceil(float(np.ptp(totals)) / MAX_RISK_BANDS), 1)
        if options.method == "pdo":
            width = max(round(options.pdo), width)
        start = int(totals[0]) // width * width
        limits = [(low, low + width - 1) for low in range(start, int(totals[-1]) + 1, width)]
    bands = []
    for low, high in limits:
        inside = (total >= low) & (total <= high)
        rows, n_events = float(weight[inside].sum()), float(weight[inside & event].sum())
        if rows:
            risk = np.average(card.score_function.probability(total[inside].astype(np.float64)), weights=weight[inside])
            bands.append(RiskBand(low, high, rows, n_events, n_events / rows, float(risk)))
    return bands


def _safe_cell(value: Any) -> Any:
    """Quote text that a spreadsheet would read as a formula; a number such as "-9" is returned unchanged."""
    if not isinstance(value, str) or value[:1] not in ("=", "+", "-", "@", "\t", "\r"):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
