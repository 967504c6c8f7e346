"""Reason codes: the features, or pairs of features, that contribute most to an adverse score."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._data.table import read_table
from sparsegam._models.display import DisplayedResult, TextTable
from sparsegam._models.functions import Columns, FittedFunction, ScoreFunction, score_function
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer
from sparsegam.choices import Baseline

BASELINES = get_args(Baseline)
DIGITS = 10
"""Number of decimals of lost points, so that ties are the same on every platform."""
NONE = -1
MAX_SHOWN = 10
MEDIAN_SLACK = 1e-9
"""Allowance for rounding errors where exactly half of the rows are below a median."""


@dataclass(frozen=True)
class Reason:
    """One reason for the score of a row.

    Attributes
    ----------
    feature : str
        The feature, or a pair such as `age & priors`.
    code, text : str
        Code and text of the reason.
    step : str
        The values of the feature that the step applies to.
    lost : float
        Difference to the baseline contribution in units of the score; positive is adverse.
    """

    feature: str
    code: str
    text: str
    step: str
    lost: float


@dataclass(frozen=True, eq=False)
class ReasonTable:
    """Lost points and texts of all steps of a model, as used by `reason_codes` and by SQL and PMML exports.

    Attributes
    ----------
    score_function : ScoreFunction
        The functions of the features and pairs of features.
    lost : tuple of ndarray
        For each function, the difference of each bin to the baseline, in units of the score; positive is adverse. In
        a bin with a slope, the value at its upper end.
    texts : tuple of tuple of (code, text)
        For each function, code and text of each bin.
    k : int
        Maximum number of reasons per row.
    baseline : {"mean", "median", "max", "population"}
        Statistic of the contributions that serves as the baseline.
    sign : {1, -1}
        1 if higher scores are adverse, -1 if lower scores are.
    """

    score_function: ScoreFunction
    lost: tuple[FloatArray, ...]
    texts: tuple[tuple[tuple[str, str], ...], ...]
    k: int = 4
    baseline: str = "max"
    sign: int = 1

    def __repr__(self) -> str:
        return f"<ReasonTable: {len(self.lost)} features, baseline {self.baseline}, {self.k} reasons>"

    @property
    def rates(self) -> tuple[FloatArray, ...]:
        """For each function, the change of lost points per unit within each bin."""
        return tuple(self.sign * function.slopes.ravel() for function in self.score_function.functions)

    def of(self, X: Any) -> "Reasons":
        """Return the reasons of each row; equal reasons keep the order of the features in the model."""
        table = read_table(X)
        columns = self.score_function.columns(table)
        shape = (table.n_rows, len(self.lost))
        bins, lost = np.zeros(shape, dtype=np.intp), np.zeros(shape)
        for j, (function, lost_in_bin) in enumerate(zip(self.score_function.functions, self.lost, strict=True)):
            bins[:, j] = function.bin_of(columns)
            lost[:, j] = lost_in_bin[bins[:, j]]
            if function.has_slopes:
                from_end = function.evaluate(columns) - function.contributions[bins[:, j]]
                lost[:, j] = np.round(lost[:, j] + self.sign * from_end, DIGITS)
        order = np.argsort(-lost, axis=1, kind="stable")[:, : self.k]
        lost, bins = np.take_along_axis(lost, order, axis=1), np.take_along_axis(bins, order, axis=1)
        is_adverse = lost > 0
        return Reasons(
            self, np.where(is_adverse, order, NONE), np.where(is_adverse, bins, NONE), np.where(is_adverse, lost, 0.0)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Reasons(DisplayedResult):
    """Reasons of many rows; `reasons[i]` is the list of `Reason` of row i, the largest first.

    Attributes
    ----------
    table : ReasonTable
        Lost points and texts of the model.
    feature, step : ndarray of int of shape (n_samples, k)
        Positions of the function and of its bin for each reason; -1 where a row has fewer reasons.
    lost : ndarray of shape (n_samples, k)
        Lost points of each reason, in units of the score.

    See Also
    --------
    reason_codes : Compute the reasons.
    """

    table: ReasonTable
    feature: NDArray[np.intp]
    step: NDArray[np.intp]
    lost: FloatArray

    def __len__(self) -> int:
        return len(self.feature)

    def __getitem__(self, row: int) -> list[Reason]:
        """Return the reasons of one row, the largest first."""
        reasons = []
        for j, i, lost in zip(self.feature[row], self.step[row], self.lost[row], strict=True):
            if j != NONE:
                function = self.table.score_function.functions[j]
                code, text = self.table.texts[j][i]
                reasons.append(Reason(function.name, code, text, function.labels()[i], float(lost)))
        return reasons

    def __iter__(self) -> Iterator[list[Reason]]:
        return (self[row] for row in range(len(self)))

    def codes(self) -> NDArray[np.object_]:
        """Return the codes as an array of shape (n_samples, k); None where a row has fewer reasons."""
        codes = np.full(self.feature.shape, None, dtype=object)
        for j, texts in enumerate(self.table.texts):
            mask = self.feature == j
            codes[mask] = np.array([code for code, _ in texts], dtype=object)[self.step[mask]]
        return codes

    def to_frame(self) -> Any:
        """Return a data frame with columns reason_1, lost_1, reason_2, lost_2 and so on."""
        codes = self.codes()
        columns: dict[str, Any] = {}
        for rank in range(codes.shape[1]):
            columns[f"reason_{rank + 1}"] = codes[:, rank]
            columns[f"lost_{rank + 1}"] = self.lost[:, rank]
        return make_frame(columns)

    def __repr__(self) -> str:
        return f"<Reasons: {len(self)} rows, up to {self.table.k} each>"

    def _display(self) -> list[str | TextTable]:
        header = ["row", *(f"reason {rank + 1}" for rank in range(self.feature.shape[1]))]
        rows = []
        for i in range(min(len(self), MAX_SHOWN)):
            cells = [f"{reason.text}: {reason.step} ({reason.lost:.3g})" for reason in self[i]]
            rows.append([str(i), *cells, *[""] * (len(header) - 1 - len(cells))])
        parts: list[str | TextTable] = [TextTable(header, rows, n_text=len(header))]
        if len(self) > MAX_SHOWN:
            parts.append(f"and {len(self) - MAX_SHOWN} more rows")
        return parts


def reason_codes(  # noqa: PLR0913
    model: Any,
    X: Any,
    k: int = 4,
    *,
    baseline: Baseline | None = None,
    reference: Any = None,
    adverse: Any = None,
    texts: Mapping[Any, Any] | None = None,
) -> Reasons:
    """Find the features, or pairs of features, that contribute most to the adverse score of each row.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows to explain.
    k : int, default=4
        Maximum number of reasons per row. A row has fewer if fewer features are worse than the baseline.
    baseline : {"mean", "median", "max", "population"}, default=None
        The contribution to which the contribution of each feature is compared: its mean or its median over the
        training data (or `reference`), the best one of all steps, or its mean over `reference`. None is "mean", or
        "max" if the model does not contain the training distribution.
    reference : array-like or data frame of shape (n_rows, n_features), default=None
        Data that represent the population instead of the training data. Required for "population", and for "mean" and
        "median" if the model does not contain the training distribution; "max" is then the best step that occurs in it.
    adverse : label, default=None
        The adverse class; None is the positive class.
    texts : mapping, default=None
        Texts, or pairs (code, text), of features and steps. Keys are a feature, or a tuple (feature, step) with the
        step as printed in scorecards; for two features that interact, a pair of names, or a pair of names and a pair
        of steps such as (("age", "priors"), ("<= 25", "> 3")). By default, code and text are the name of the feature.

    Returns
    -------
    Reasons
        The reasons, with `codes()` and `to_frame()`.

    See Also
    --------
    reason_table : Compute lost points once, for many calls or for an export.
    counterfactual : Find the cheapest changes that lead to another prediction.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> from sparsegam.deploy import reason_codes
    >>> X = [[a] for a in range(20, 60)]
    >>> y = [int(a > 40) ^ (a % 7 == 0) for (a,) in X]
    >>> reasons = reason_codes(SparseGAMClassifier(max_terms=1).fit(X, y), [[30], [50]])
    >>> [[reason.feature for reason in row] for row in reasons]
    [[], ['x0']]
    """
    table = reason_table(model, baseline=baseline, reference=reference, adverse=adverse, texts=texts, k=k)
    return table.of(X)


def reason_table(
    model: Any,
    *,
    baseline: Baseline | None = None,
    reference: Any = None,
    adverse: Any = None,
    texts: Mapping[Any, Any] | None = None,
    k: int = 4,
) -> ReasonTable:
    """Compute the lost points and the texts of all steps of a model.

    `ReasonTable.of(X)` returns the reasons of rows; `sparsegam.export.to_sql` and `to_pmml` accept the table.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model.
    baseline, reference, adverse, texts, k
        See `reason_codes`.

    Returns
    -------
    ReasonTable
        Lost points and texts.

    See Also
    --------
    reason_codes : Compute the reasons of rows directly.
    """
    function = score_function(model)
    if baseline is None:
        is_known = reference is not None or all(one.training is not None for one in function.functions)
        baseline = "mean" if is_known else "max"
    check_choice("baseline", baseline, BASELINES)
    check_integer("k", k, at_least=1)
    sign = _adverse_sign(function, adverse)
    columns = None if reference is None else function.columns(read_table(reference))
    lost = tuple(
        np.round(sign * (one.contributions.ravel() - _baseline(one, baseline, columns, sign)), DIGITS)
        for one in function.functions
    )
    given = texts or {}
    _check_texts(function, given)
    return ReasonTable(
        function, lost, tuple(tuple(_texts(one, given)) for one in function.functions), k, baseline, sign
    )


def _baseline(function: FittedFunction, baseline: str, columns: Columns | None, sign: int) -> float:
    """Return the baseline contribution of a function over the reference or the training data."""
    if columns is None:
        values, shares = function.training or (function.contributions, None)
        best = function.ends
    else:
        best = values = function.evaluate(columns)
        shares = np.full(values.size, 1 / max(values.size, 1))
    if baseline == "max":
        return float(best.min() if sign > 0 else best.max())
    if shares is None or (baseline == "population" and columns is None):
        msg = f"baseline={baseline!r} needs reference=, a table that represents the population."
        if baseline != "population":
            msg += f" The model does not contain the training distribution of {function.name!r}."
        raise ValueError(msg)
    return _weighted_median(values, shares) if baseline == "median" else float(shares @ values)


def _weighted_median(values: FloatArray, shares: FloatArray) -> float:
    """Return the weighted median: the mean of two values if exactly half of the weight is below the larger one."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(shares[order])
    middle = cumulative[-1] / 2
    low, high = (values[order][np.searchsorted(cumulative, middle + slack)] for slack in (-MEDIAN_SLACK, MEDIAN_SLACK))
    return float((low + high) / 2)


def _adverse_sign(function: ScoreFunction, adverse: Any) -> int:
    """Return 1 if higher scores are adverse, -1 if lower scores are."""
    if function.classes is None:
        if adverse is not None:
            msg = (
                f"adverse={adverse!r} is a class, but the model is a regression, in which high values are always "
                "adverse: omit adverse."
            )
            raise ValueError(msg)
        return 1
    adverse = function.classes[1] if adverse is None else adverse
    if adverse not in function.classes:
        msg = f"adverse must be one of the classes {function.classes}, got {adverse!r}."
        raise ValueError(msg)
    return (1 if adverse == function.classes[1] else -1) * (1 if function.slope > 0 else -1)


def _check_texts(function: ScoreFunction, texts: Mapping[Any, Any]) -> None:
    known = set(function.feature_names) | {pair.key for pair in function.of_pairs}
    for key in texts:
        if key not in known and (key[0] if isinstance(key, tuple) else key) not in known:
            columns = list(function.feature_names[:10])
            msg = f"texts has the key {key!r}, which is not a column of the model: {columns}."
            raise ValueError(msg)


def _texts(function: FittedFunction, texts: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Return the code and the text of each bin."""
    default = texts.get(function.key, function.name)
    for names in function.phrases():
        text = next((texts[function.key, name] for name in names if (function.key, name) in texts), default)
        if isinstance(text, str):
            yield function.name, text
        elif isinstance(text, tuple) and len(text) == 2 and all(isinstance(part, str) for part in text):
            yield text
        else:
            msg = f"the values of texts must be strings or pairs (code, text), got {text!r} for {function.name!r}."
            raise ValueError(msg)
