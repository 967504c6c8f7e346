"""Additive models: an intercept and terms, evaluated with NumPy, printed as an equation and stored as JSON."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import NUMBER, Scale, Value
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, read_table
from sparsegam._models import display, equation, json
from sparsegam._models.edits import Edit
from sparsegam._models.functions import (
    Bins,
    FittedFunction,
    ScoreFunction,
    bins_of,
    feature_function,
    joint_shares,
    pair_function,
)
from sparsegam._models.profile import Profile
from sparsegam._models.scoring import ScoringModel
from sparsegam._models.statistics import FitStatistics
from sparsegam._models.terms import Clause, Condition, Part, Term, part_name
from sparsegam._models.training import RULES, NewValues, TrainingCounts, TrainingDistribution
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_boolean, check_choice
from sparsegam.choices import Baseline, Dialect, PointsDirection, PointsMethod
from sparsegam.losses import LOSSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from onnx import ModelProto

    from sparsegam.deploy import Counterfactual, Editor, Reasons, ReasonTable, Scorecard
    from sparsegam.inspection import Drift

LARGEST_SCORE = 1e290
"""Bound on scores. It leaves room for sums, for log-odds of twice the score, and for rounding to decimal places."""


@dataclass(frozen=True)
class Model(ScoringModel):
    """Additive model: score(x) = intercept + sum of the coefficients of the terms that hold + sum of the ramps.

    A term is a condition or a ramp on one feature, or an interaction: two conditions on different features.

    Parameters
    ----------
    intercept : float
        Score of a row for which no term holds.
    terms : tuple of Term
        The terms, in the order of features, then thresholds; interactions are last.
    feature_names : tuple of str
        All columns of the training table, used or not; arrays are read by these positions.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}
        Loss of the fit; it determines the probability that belongs to a score.
    classes : tuple or None, default=None
        The negative and the positive class label. None for a regression.
    special_values : dict of str to tuple
        Values of a feature that are outside its order: `x <= t` is false for them.
    scales : dict of str to Scale
        Scales of the non-numeric features in use, with the levels of categories.
    edits : tuple of Edit
        Manual changes of the model, in chronological order.
    missing : {"mean", "error", "last"}, default="last"
        How a missing value, a special value or a level is scored if it did not occur in training: at the mean
        contribution of its feature, not at all (a ValueError is raised), or as if no condition held.
    distributions : dict of str to TrainingDistribution
        Training distribution of each feature in use. Without it, `missing` must be "last".
    pair_shares : dict of pair of str to ndarray
        For each pair of features with interactions, the share of the training rows in each pair of bins.
    training : TrainingCounts or None, default=None
        Counts of the training rows, for `drift` and for importances.
    stored_profile : Profile or None, default=None
        Profile of the training rows, for a model that was edited or read from a file.
    statistics : FitStatistics or None, default=None
        Term statistics: rows of each term, and covariances of the coefficients.

    Notes
    -----
    A missing value has the coefficient of the term `x is missing`, if the model has one. If missing values occurred in
    training and no term holds for them, their contribution is zero. Values that did not occur in training are scored
    as set by `missing`, with a warning that counts them.

    Models are immutable. `dataclasses.replace` keeps training data and statistics: pass `training=None`,
    `stored_profile=None` and `statistics=None` together with other terms.
    """

    intercept: float
    terms: tuple[Term, ...]
    feature_names: tuple[str, ...]
    loss: str
    classes: tuple[Any, Any] | None = None
    special_values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    missing: str = "last"
    distributions: Mapping[str, TrainingDistribution] = field(default_factory=dict, compare=False)
    pair_shares: Mapping[tuple[str, str], FloatArray] = field(default_factory=dict, compare=False)
    training: TrainingCounts | None = field(default=None, compare=False, repr=False)
    stored_profile: Profile | None = field(default=None, compare=False, repr=False)
    statistics: FitStatistics | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, tuple(RULES))
        self._check_score_range()
        unknown = self.unknown_parts()
        if self.missing != "last" and unknown:
            msg = (
                f"missing={self.missing!r} needs the training distribution of column {unknown[0]!r}, which this model "
                "does not contain: use missing='last', or fit the model."
            )
            raise ValueError(msg)
        for pair, shares in self.pair_shares.items():
            shape = tuple(map(len, self.pair_bins(pair)))
            if shares.shape != shape:
                msg = f"pair_shares of {part_name(pair)!r} must have a share for each bin, {shape}, got {shares.shape}."
                raise ValueError(msg)
        if self.statistics is not None and len(self.statistics.rows) != len(self.terms):
            msg = f"statistics describe {len(self.statistics.rows)} terms, but the model has {len(self.terms)}."
            raise ValueError(msg)

    def _check_score_range(self) -> None:
        """Raise if a score could overflow, here or in an export."""
        bound = abs(self.intercept)
        for term in self.terms:
            low, *_, high = map(NUMBER.number, term.condition.edges) if term.condition.is_ramp else (0.0, 1.0)
            bound += abs(term.coef) * (high - low)
        if not bound <= LARGEST_SCORE:
            msg = (
                f"the intercept and the coefficients allow scores up to {bound:.3g}, but scores above "
                f"{LARGEST_SCORE:g} could overflow: correct the coefficients, or rescale the target and fit again."
            )
            raise ValueError(msg)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the features in use, in table order."""
        used = {name for term in self.terms for name in term.features}
        return tuple(name for name in self.feature_names if name in used)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Components of the score: features with main effects, in table order, then pairs with interactions."""
        alone = {term.feature for term in self.terms if not term.is_interaction}
        return (*(name for name in self.feature_names if name in alone), *self.pairs)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of features with interactions."""
        return tuple(dict.fromkeys((t.feature, t.also.feature) for t in self.terms if t.also is not None))

    def unknown_parts(self) -> list[str]:
        """Return the features and pairs whose training distribution is unknown."""
        features = [name for name in self.features if name not in self.distributions]
        return features + [part_name(pair) for pair in self.pairs if pair not in self.pair_shares]

    def baseline(self, *, centred: bool | None = None) -> float:
        """Return the score of a row whose contributions are all zero.

        Parameters
        ----------
        centred : bool, optional
            As in `contributions`.

        Returns
        -------
        float
            The mean score of the training rows for centred contributions, otherwise the intercept.
        """
        if not self.is_centred(centred=centred):
            return self.intercept
        return math.fsum([self.intercept, *(function.mean for function in self._functions.values())])

    def is_centred(self, *, centred: bool | None = None) -> bool:
        """Return `centred`; if it is None, return whether the training distribution is known."""
        unknown = self.unknown_parts()
        if centred is None:
            return not unknown
        check_boolean("centred", centred)
        if centred and unknown:
            msg = (
                f"centred=True needs the mean of column {unknown[0]!r} over the training rows, which is unknown: use "
                "centred=False, or fit the model again."
            )
            raise ValueError(msg)
        return centred

    @cached_property
    def _functions(self) -> dict[Part, FittedFunction]:
        """Sum of the terms of each feature or pair, in the order of `parts`; the intercept plus these is the score."""
        terms: dict[Part, list[Term]] = {}
        for term in self.terms:
            terms.setdefault(term.part, []).append(term)
        out: dict[Part, FittedFunction] = {}
        for part in self.parts:
            if isinstance(part, str):
                found = feature_function(terms[part], self._bins(part, [term.condition for term in terms[part]]))
            else:
                found = pair_function(terms[part], self.pair_bins(part), self.pair_shares.get(part))
            # Exports cannot reject a row, so missing="error" gives new values the mean as well.
            out[part] = found if self.missing == "last" else found.with_mean_where_new()
        return out

    @cached_property
    def _centred_functions(self) -> dict[Part, FittedFunction]:
        return {part: function.shifted(-function.mean) for part, function in self._functions.items()}

    def functions(self, *, centred: bool | None = False) -> dict[Part, FittedFunction]:
        """Return the function of each of `parts`; see `shape_functions` for `centred`."""
        return self._centred_functions if self.is_centred(centred=centred) else self._functions

    @cached_property
    def score_function(self) -> ScoreFunction:
        """The model as a sum of functions."""
        return ScoreFunction(
            base=self.intercept,
            functions=tuple(self._functions.values()),
            feature_names=self.feature_names,
            classes=None if self.classes is None else (_plain(self.classes[0]), _plain(self.classes[1])),
            slope=LOSSES[self.loss].probability_slope or 1.0,
            missing=self.missing,
        )

    def shape_functions(self, *, centred: bool | None = False) -> dict[str, FittedFunction]:
        """Return the contribution of each feature to the score, as a function of its value.

        Parameters
        ----------
        centred : bool or None, default=False
            Whether the functions have mean zero over the training rows, as in `contributions`; otherwise their sum plus
            the intercept is the score.

        Returns
        -------
        dict of str to FittedFunction
            By feature, in the order of `features`, without features that occur in interactions only.
        """
        functions = self.functions(centred=centred)
        return {part: function for part, function in functions.items() if isinstance(part, str)}

    def pair_functions(self, *, centred: bool | None = False) -> dict[tuple[str, str], FittedFunction]:
        """Return the joint contribution of each pair of features, in addition to that of each feature.

        Parameters
        ----------
        centred : bool or None, default=False
            As in `shape_functions`.

        Returns
        -------
        dict of pair of str to FittedFunction
            By pair, in the order of `pairs`.
        """
        functions = self.functions(centred=centred)
        return {part: function for part, function in functions.items() if not isinstance(part, str)}

    def _bins(self, name: str, conditions: Iterable[Condition]) -> Bins:
        special, scale = self.special_values.get(name, ()), self.scales.get(name, NUMBER)
        return bins_of(name, conditions, special, scale, self.distributions.get(name))

    def pair_bins(self, pair: tuple[str, str]) -> tuple[Bins, Bins]:
        """Return the bins of both features of a pair."""
        terms = [term for term in self.terms if term.part == pair]
        first, second = (self._bins(name, [term.clauses[i].condition for term in terms]) for i, name in enumerate(pair))
        return first, second

    def scale_of(self, name: str) -> Scale:
        """Return the scale of a feature."""
        return self.scales.get(name, NUMBER)

    def importances(self) -> dict[Part, float]:
        """Return the mean absolute deviation of each contribution from its mean over the training rows."""
        if self.training is None:
            msg = "importances need the training counts, which only fitted models have."
            raise ValueError(msg)
        out: dict[Part, float] = {}
        for part, function in self._functions.items():
            if isinstance(part, str):
                numbers, counts = self.training.bins[part]
                out[part] = importance(function.at(numbers), counts)
            else:
                out[part] = importance(function.contributions, self.training.pairs[part])
        return out

    def standard_errors(self, part: Part, *numbers: FloatArray) -> FloatArray | None:
        """Return the standard error of the contribution of each row, minus its mean over the training rows.

        Parameters
        ----------
        part : str or pair of str
            The feature or pair.
        *numbers : ndarray
            The values of each feature, as numbers on its scale.

        Returns
        -------
        ndarray or None
            None if the covariance of the coefficients is unknown.
        """
        if self.statistics is None:
            return None
        return self.statistics.errors_of(part, *self._values_and_means(part, numbers))

    def corrections(self, part: Part, *numbers: FloatArray) -> FloatArray | None:
        """Return how far the centre of the interval of each contribution is from the contribution.

        Intervals are centred at the contribution without the shrinkage of the ridge, and their half width is 1.96 times
        `standard_errors`. Parameters are those of `standard_errors`; None if the unshrunken coefficients are unknown.
        """
        if self.statistics is None:
            return None
        return self.statistics.corrections_of(self.terms, part, *self._values_and_means(part, numbers))

    def _values_and_means(self, part: Part, numbers: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return the values of the terms of a part in each row, and their means over the training rows."""
        assert self.statistics is not None
        function, names = self._functions[part], (part,) if isinstance(part, str) else part
        terms = [term for term in self.terms if term.part == part]
        means = self.statistics.shares(self.terms, part)
        for i, term in enumerate(terms):
            if term.condition.is_ramp:
                means[i] = self._mean_of_ramp(term, function)
        columns = dict(zip(names, numbers, strict=True))
        values = np.column_stack([self.column_of(term, columns) for term in terms])
        return values.astype(np.float64), means

    def _mean_of_ramp(self, term: Term, function: FittedFunction) -> float:
        if function.sample is None:
            return 0.0
        column = self.column_of(term, {term.feature: function.sample.numbers[0]})
        return math.fsum((function.sample.shares * column).tolist())

    def bin_errors(self, pair: tuple[str, str]) -> FloatArray | None:
        """Return `standard_errors` of each bin of a pair; NaN for new values scored at the mean."""
        return self._by_bin(pair, self.standard_errors)

    def bin_corrections(self, pair: tuple[str, str]) -> FloatArray | None:
        """Return `corrections` of each bin of a pair; NaN for new values scored at the mean."""
        return self._by_bin(pair, self.corrections)

    def _by_bin(
        self, pair: tuple[str, str], function: Callable[[Part, FloatArray, FloatArray], FloatArray | None]
    ) -> FloatArray | None:
        axes = self._functions[pair].axes
        first, second = np.meshgrid(*(axis.representatives() for axis in axes), indexing="ij")
        found = function(pair, first.ravel(), second.ravel())
        if found is None:
            return None
        out = found.reshape(first.shape)
        if self.missing != "last":
            out[axes[0].is_new, :] = out[:, axes[1].is_new] = np.nan
        return out

    def column_of(self, term: Term, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return the column of a term, without its coefficient: 0 or 1, or `min(max(x, low) - value, 0)` for a ramp."""
        if term.condition.is_ramp:
            unit = replace(term, coef=1.0)
            return feature_function([unit], self._bins(term.feature, [term.condition])).at(columns[term.feature])
        holds = np.logical_and.reduce([self._holds(clause, columns[clause.feature]) for clause in term.clauses])
        return np.asarray(holds, dtype=np.float64)

    def _holds(self, clause: Clause, numbers: FloatArray) -> NDArray[np.bool_]:
        bins = self._bins(clause.feature, [clause.condition])
        return bins.holds(clause.condition)[bins.bin_of(numbers)]

    def with_terms(self, intercept: float, terms: Iterable[Term]) -> "Model":
        """Return a model with new coefficients for some of the terms and the same training distributions.

        Training counts and term statistics are dropped.
        """
        bare = replace(
            self,
            intercept=intercept,
            terms=tuple(replace(term, statistics=None) for term in terms),
            missing="last",
            pair_shares={},
            training=None,
            stored_profile=None,
            statistics=None,
        )
        shares = {}
        for pair in bare.pairs:
            sample = self._functions[pair].sample
            if sample is not None:
                numbers = sample.numbers[0], sample.numbers[1]
                shares[pair] = joint_shares(bare.pair_bins(pair), numbers, sample.shares)
        return replace(bare, missing=self.missing, pair_shares=shares)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Data frames are read by column name and need only the features in use; arrays are read by position.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds (logistic loss), half the log-odds (exponential loss), or predictions (squared loss).
        """
        return self.score_table(read_table(X))

    def read(self, X: Any) -> Table:
        """Convert data to the input type of the model, without a copy."""
        return read_table(X)

    def score_table(self, table: Table) -> FloatArray:
        """Return the score of each row of a table."""
        return self.score_function.score(table)

    def score_rows(self, table: Table, new: NewValues | None = None) -> FloatArray:
        """Return the score of each row without warnings; `new` collects the counts of new values."""
        return self.score_function.score_rows(table, NewValues() if new is None else new)

    def contributions(self, X: Any, *, centred: bool | None = None) -> FloatArray:
        """Return the contribution of each feature, and of each pair with interactions, to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.
        centred : bool, optional
            Whether contributions are relative to their mean over the training rows; otherwise they are sums of
            coefficients. None means True if the model contains the training distributions.

        Returns
        -------
        ndarray of shape (n_samples, n_parts)
            A column for each of `parts`. A row and `baseline(centred=centred)` sum to the score.
        """
        table, new = read_table(X), NewValues()
        functions = tuple(self.functions(centred=centred).values())
        columns = list(replace(self.score_function, functions=functions).contributions(table, new))
        new.tell(self.missing)
        return np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))

    def to_frame(self) -> Any:
        """Return the terms as a data frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row per term with feature, condition, coef, standard_error, low and high (see `Term.interval`), n_rows,
            n_others and n_events (see `TermStatistics`). The type is the first of these that is installed.
        """
        names = ("feature", "condition", "coef", "standard_error", "low", "high", "n_rows", "n_others", "n_events")
        rows = self.rows()
        return make_frame({name: [row[name] for row in rows] for name in names})

    def rows(self) -> list[dict[str, Any]]:
        """Return the columns of `to_frame` as a dict for each term."""
        out = []
        for term in self.terms:
            known = term.statistics
            row = {"feature": part_name(term.part), "condition": term.text(), "coef": term.coef}
            low, high = term.interval or (None, None)
            row |= {
                "standard_error": None if known is None else known.standard_error,
                "low": low,
                "high": high,
                "n_rows": None if known is None else known.n_rows,
                "n_others": None if known is None else known.n_others,
                "n_events": None if known is None else known.n_events,
            }
            out.append(row)
        return out

    def summary(self) -> str:
        """Return the terms as a table: coefficients, standard errors, rows and events.

        The coefficient of a ramp is per unit up to its knot, and its rows are those below the knot. Intervals are those
        of the coefficient without the shrinkage of the ridge (see `Term.interval`). Standard errors and intervals
        ignore that the terms were selected and are hence too small; `stability` of an estimator repeats the selection
        on samples of the data.
        """
        return display.aligned(*display.summary_table(self))

    def equation(self, *, digits: int = 4, width: int = 100) -> str:
        """Return the model as text, one block of lines per feature.

        Parameters
        ----------
        digits : int, default=4
            Number of significant digits of the coefficients.
        width : int, default=100
            Maximum length of a line.

        Returns
        -------
        str
            The equation, with a letter for each feature and the names of the features on the right.
        """
        body = equation.blocks(self.terms, self.features, digits=digits, width=width)
        return self._equation(self.intercept, body, digits)

    def to_json(self) -> str:
        """Return the model as JSON, which `from_json` reads without loss."""
        return json.model_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Model":
        """Read a model from the output of `to_json`; raise ValueError for other content.

        Parameters
        ----------
        text : str
            The JSON text. It is parsed, never executed.

        Returns
        -------
        Model
            The model.
        """
        return cls(**json.read_model(text))

    def scorecard(  # noqa: PLR0913
        self,
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
    ) -> "Scorecard":
        """Return the model as a scorecard of integer points; see `sparsegam.deploy.scorecard`."""
        from sparsegam.deploy import scorecard

        return scorecard(
            self,
            X,
            y,
            sample_weight=sample_weight,
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

    def reason_codes(
        self,
        X: Any,
        k: int = 4,
        *,
        baseline: Baseline | None = None,
        reference: Any = None,
        adverse: Any = None,
        texts: Mapping[Any, Any] | None = None,
    ) -> "Reasons":
        """Return the features that lower the score of each row most; see `sparsegam.deploy.reason_codes`."""
        from sparsegam.deploy import reason_codes

        return reason_codes(self, X, k, baseline=baseline, reference=reference, adverse=adverse, texts=texts)

    def counterfactual(
        self,
        row: Any,
        *,
        target: Any = None,
        fixed: Sequence[str] = (),
        directions: Mapping[str, str] | None = None,
        cost: str | Mapping[str, float] | None = None,
    ) -> "Counterfactual":
        """Return the cheapest changes of a row that reach a target; see `sparsegam.deploy.counterfactual`."""
        from sparsegam.deploy import counterfactual

        return counterfactual(self, row, target=target, fixed=fixed, directions=directions, cost=cost)

    def to_sql(
        self,
        table: str,
        *,
        dialect: Dialect = "duckdb",
        keep: Sequence[str] = (),
        points: "Scorecard | None" = None,
        reasons: "ReasonTable | None" = None,
    ) -> str:
        """Return a SQL query that scores a table; see `sparsegam.export.to_sql`."""
        from sparsegam.export import to_sql

        return to_sql(self, table, dialect=dialect, keep=keep, points=points, reasons=reasons)

    def to_python(self) -> str:
        """Return a Python module that scores rows without this package; see `sparsegam.export.to_python`."""
        from sparsegam.export import to_python

        return to_python(self)

    def to_javascript(self) -> str:
        """Return a JavaScript module that scores rows; see `sparsegam.export.to_javascript`."""
        from sparsegam.export import to_javascript

        return to_javascript(self)

    def to_onnx(self) -> "ModelProto":
        """Return an ONNX graph; requires onnx. See `sparsegam.export.to_onnx`."""
        from sparsegam.export import to_onnx

        graph: ModelProto = to_onnx(self)
        return graph

    def to_pmml(self, *, reasons: "ReasonTable | None" = None) -> str:
        """Return a PMML Scorecard; see `sparsegam.export.to_pmml`."""
        from sparsegam.export import to_pmml

        return to_pmml(self, reasons=reasons)

    def to_excel(self, path: Any, X: Any = None, *, n_rows: int = 100) -> None:
        """Write a workbook that scores with formulas; requires openpyxl. See `sparsegam.export.to_excel`."""
        from sparsegam.export import to_excel

        to_excel(self, path, X, n_rows=n_rows)

    def to_latex(self, *, digits: int = 3) -> str:
        """Return the model as LaTeX tables and an equation; see `sparsegam.export.to_latex`."""
        from sparsegam.export import to_latex

        return to_latex(self, digits=digits)

    def edit(self, X: Any, y: Any, *, who: str, sample_weight: Any = None, lambda2: Any = "auto") -> "Editor":
        """Return an editor of a copy of the model; see `sparsegam.deploy.Editor`."""
        from sparsegam.deploy import Editor

        return Editor(self, X, y, who=who, sample_weight=sample_weight, lambda2=lambda2)

    def profile(self, X: Any) -> Profile:
        """Return the distribution of rows over the bins of the model, for comparisons by `drift`."""
        from sparsegam.inspection._drift import profile

        return profile(self, X)

    def training_profile(self) -> Profile | None:
        """Return the distribution of the training rows over the bins of the model, or None if it is unknown."""
        from sparsegam.inspection._drift import training_profile

        return training_profile(self)

    def drift(self, X: Any, reference: Any = None) -> "Drift":
        """Compare the distribution of rows with that of the training rows; see `sparsegam.inspection.drift`."""
        from sparsegam.inspection import drift

        return drift(self, X, reference)

    def card(
        self,
        X: Any = None,
        y: Any = None,
        *,
        settings: Mapping[str, Any] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> str:
        """Return a model card in Markdown; see `sparsegam.inspection.model_card`."""
        from sparsegam.inspection import model_card

        return model_card(self, X, y, settings=settings, about=about)

    def plot(
        self,
        X: Any = None,
        *,
        features: Sequence[Part] | None = None,
        centred: bool | None = None,
        ax: Any = None,
    ) -> "Figure":
        """Draw the contributions of features and interactions; see `sparsegam.plots.plot_shapes`."""
        from sparsegam.plots import plot_shapes

        figure: Figure = plot_shapes(self, X, features=features, centred=centred, ax=ax)
        return figure

    def plot_row(
        self, X: Any, row: int = 0, *, max_features: int = 20, centred: bool | None = None, ax: Any = None
    ) -> "Figure":
        """Draw the contributions to the score of one row; see `sparsegam.plots.plot_contributions`."""
        from sparsegam.plots import plot_contributions

        figure: Figure = plot_contributions(self, X, row=row, max_features=max_features, centred=centred, ax=ax)
        return figure

    def _html_parts(self) -> list[str]:
        header, rows = display.summary_table(self)
        table = display.table(header, rows, most=display.MOST_ROWS)
        return [table, display.folded("As an equation", display.verbatim(self.equation()))]

    def __repr__(self) -> str:
        return f"<Model: {self.loss}, {self.n_terms} terms of {len(self.features)} features>"


def importance(contributions: FloatArray, counts: FloatArray | None = None) -> float:
    """Return the mean absolute deviation of contributions from their mean, weighted by `counts`."""
    if not contributions.size:
        return 0.0
    mean = np.average(contributions, weights=counts)
    return float(np.average(np.abs(contributions - mean), weights=counts))


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
