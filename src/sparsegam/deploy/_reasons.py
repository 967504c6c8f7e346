"""Reason codes: which features or pairs cost a row most, against what they add on average, in the middle or at best."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._data.table import read_table
from sparsegam._models import notebook
from sparsegam._models.functions import Columns, FittedFunction, ScoreFunction, score_function
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer

BASELINES = ("mean", "median", "max", "population")
DIGITS = 10  # what is lost is compared after rounding, so that ties are ties wherever it is computed
NONE = -1  # no reason
SHOWN = 10  # rows that a notebook shows
TIED = 1e-9  # of a share: how far from one half the rows on both sides of a median may be


@dataclass(frozen=True)
class Reason:
    """One feature, or pair of them, that cost points: code and text, the step that holds, how much was lost there."""

    feature: str
    code: str
    text: str
    step: str
    lost: float


@dataclass(frozen=True, eq=False)
class ReasonTable:
    """What each step of each feature, and each cell of each pair, loses against the baseline, and how to say so.

    Attributes
    ----------
    score_function : ScoreFunction
        The model whose scores are explained.
    lost : tuple of ndarray
        For each part of the model (a feature or, behind these, a pair), the loss of each step in units of the score;
        above zero where the step speaks against a row. Of a straight piece it is that of the upper end, and changes by
        its rate with each unit.
    said : tuple of tuple of (code, text)
        For each part, the code and the text of each step.
    k : int
        Largest number of reasons of a row.
    baseline : {"mean", "median", "max", "population"}
        What the steps are held against.
    sign : {1, -1}
        Whether a higher score speaks against a row, or a lower one.
    """

    score_function: ScoreFunction
    lost: tuple[FloatArray, ...]
    said: tuple[tuple[tuple[str, str], ...], ...]
    k: int = 4
    baseline: str = "max"
    sign: int = 1

    def __repr__(self) -> str:
        return f"<ReasonTable: {len(self.lost)} features, against the {self.baseline}, {self.k} reasons>"

    @property
    def rates(self) -> tuple[FloatArray, ...]:
        """For each part, what each unit loses within each step."""
        return tuple(self.sign * function.slopes.ravel() for function in self.score_function.functions)

    def of(self, X: Any) -> "Reasons":
        """Return the k largest losses of each row; features in the order of the table where they tie."""
        rows = read_table(X)
        columns = self.score_function.columns(rows)
        where, lost = np.zeros((rows.n_rows, len(self.lost)), dtype=np.intp), np.zeros((rows.n_rows, len(self.lost)))
        for j, (function, loss) in enumerate(zip(self.score_function.functions, self.lost, strict=True)):
            where[:, j] = function.bin_of(columns)
            lost[:, j] = loss[where[:, j]]
            if function.has_slopes:
                beyond_end = function.evaluate(columns) - function.contributions[where[:, j]]
                lost[:, j] = np.round(lost[:, j] + self.sign * beyond_end, DIGITS)
        order = np.argsort(-lost, axis=1, kind="stable")[:, : self.k]
        sorted_lost = np.take_along_axis(lost, order, axis=1)
        counts = sorted_lost > 0
        return Reasons(
            self,
            np.where(counts, order, NONE),
            np.where(counts, np.take_along_axis(where, order, axis=1), NONE),
            np.where(counts, sorted_lost, 0.0),
        )


@dataclass(frozen=True, eq=False)
class Reasons:
    """The reasons of many rows: positions of parts and of their steps (-1: none), and what was lost."""

    table: ReasonTable
    feature: NDArray[np.intp]
    step: NDArray[np.intp]
    lost: FloatArray

    def __len__(self) -> int:
        return len(self.feature)

    def __getitem__(self, row: int) -> list[Reason]:
        """Return the reasons of one row, the largest loss first."""
        return list(self._reasons(row))

    def __iter__(self) -> Iterator[list[Reason]]:
        return (self[row] for row in range(len(self)))

    def codes(self) -> NDArray[np.object_]:
        """Return the codes, a row per row and a column per rank; None where there are fewer reasons."""
        out = np.full(self.feature.shape, None, dtype=object)
        for j, said in enumerate(self.table.said):
            mine = self.feature == j
            out[mine] = np.array([code for code, _ in said], dtype=object)[self.step[mine]]
        return out

    def to_frame(self) -> Any:
        """Return a frame with reason_1, lost_1, reason_2, and so on."""
        codes = self.codes()
        columns: dict[str, Any] = {}
        for rank in range(codes.shape[1]):
            columns[f"reason_{rank + 1}"] = codes[:, rank]
            columns[f"lost_{rank + 1}"] = self.lost[:, rank]
        return make_frame(columns)

    def __repr__(self) -> str:
        return f"<Reasons: {len(self)} rows, up to {self.table.k} each>"

    def _repr_html_(self) -> str:
        header = ["row", *(f"reason {rank + 1}" for rank in range(self.feature.shape[1]))]
        rows = []
        for i in range(min(len(self), SHOWN)):
            told = [f"{reason.text}: {reason.step} ({reason.lost:.3g})" for reason in self[i]]
            rows.append([str(i), *told, *[""] * (len(header) - 1 - len(told))])
        more = [notebook.note(f"and {len(self) - SHOWN} more rows")] * (len(self) > SHOWN)
        return notebook.fragment(notebook.table(header, rows, n_text=len(header)), *more)

    def _reasons(self, row: int) -> Iterator[Reason]:
        for j, i, lost in zip(self.feature[row], self.step[row], self.lost[row], strict=True):
            if j == NONE:
                return
            function = self.table.score_function.functions[j]
            code, text = self.table.said[j][i]
            yield Reason(function.name, code, text, function.labels()[i], float(lost))


def reason_codes(model: Any, X: Any, k: int = 4, **options: Any) -> Reasons:
    """Say why rows score badly: at most k features or pairs each, the largest loss first, one reason for each.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores the rows.
    X : table
        The rows.
    k : int
        Largest number of reasons of a row.
    **options
        The options `baseline`, `reference`, `adverse` and `texts` of `reason_table`.

    Returns
    -------
    Reasons
        For each row a list of Reason; `codes()` and `to_frame()` give all at once.
    """
    return reason_table(model, k=k, **options).of(X)


def reason_table(
    model: Any,
    *,
    baseline: str | None = None,
    reference: Any = None,
    adverse: Any = None,
    texts: Mapping[Any, Any] | None = None,
    k: int = 4,
) -> ReasonTable:
    """Work out what each step loses, once for all rows (and for the SQL that gives reasons).

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores the rows.
    baseline : {"mean", "median", "max", "population"}, optional
        What a feature is held against: its mean or its median over the rows of the fit (or those of the reference,
        where it is given), the best of its steps, or its mean in the reference. "mean" unless told, so that what is
        better than average is never a reason; "max" where the model does not know the rows of its fit.
    reference : table, optional
        Rows that stand for the population instead of those of the fit, each counted once. "population" needs it, and so
        do "mean" and "median" where the model does not know the rows of its fit; "max" takes the best step that occurs
        in it, and of all steps without it.
    adverse : label, optional
        The class that speaks against a row; the second one unless told.
    texts : dict, optional
        What to say: from a feature, or a pair (feature, step) with the step as scorecards write it, to a text or to a
        pair (code, text). What two features add together goes by both names, as in ("age", "priors"), or by these and
        the step of each, as in (("age", "priors"), ("<= 25", "> 3")). Code and text are the name of the feature, or of
        the pair as in "age & priors", where there is nothing.
    k : int
        Largest number of reasons of a row.

    Returns
    -------
    ReasonTable
        The losses and the texts.
    """
    score = score_function(model)
    baseline = _default(score, reference) if baseline is None else baseline
    check_choice("baseline", baseline, BASELINES)
    check_integer("k", k, at_least=1)
    sign = _adverse_sign(score, adverse)
    lost = tuple(
        np.round(sign * (function.contributions.ravel() - middle), DIGITS)
        for function, middle in zip(score.functions, _middles(score, baseline, reference, sign), strict=True)
    )
    said = texts or {}
    _check_texts(score, said)
    return ReasonTable(score, lost, tuple(tuple(_said(one, said)) for one in score.functions), k, baseline, sign)


def _default(score: ScoreFunction, reference: Any) -> str:
    known = reference is not None or all(function.training is not None for function in score.functions)
    return "mean" if known else "max"


def _middles(score: ScoreFunction, baseline: str, reference: Any, sign: int) -> Iterator[float]:
    """Return what each feature is held against."""
    given = None if reference is None else score.columns(read_table(reference))
    for function in score.functions:
        values, shares = _spread(function, given)
        if baseline == "max":
            best = function.ends if given is None else values
            yield float(best.min() if sign > 0 else best.max())
        elif shares is None or (baseline == "population" and given is None):
            why = (
                ""
                if baseline == "population"
                else f": the model does not know the rows of its fit in {function.name!r}"
            )
            msg = f"baseline={baseline!r} needs reference=, the rows that stand for the population{why}."
            raise ValueError(msg)
        else:
            yield _median(values, shares) if baseline == "median" else float(shares @ values)


def _spread(function: FittedFunction, columns: Columns | None) -> tuple[FloatArray, FloatArray | None]:
    """Return what a part adds to rows, and their shares: without rows to those of the fit, where it is known."""
    if columns is None:
        return function.training or (function.contributions, None)
    values = function.evaluate(columns)
    return values, np.full(values.size, 1 / max(values.size, 1))


def _median(values: FloatArray, shares: FloatArray) -> float:
    """Return the median of values that have shares of the rows; the middle of two where it is between them."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(shares[order])
    low, high = (values[order][np.searchsorted(upto, upto[-1] / 2 + slack)] for slack in (-TIED, TIED))
    return float((low + high) / 2)


def _adverse_sign(score: ScoreFunction, adverse: Any) -> int:
    if adverse is None:
        adverse = None if score.classes is None else score.classes[1]
    if score.classes is None:
        if adverse is not None:
            msg = f"adverse={adverse!r} names a class, but the model is a regression, where high is adverse."
            raise ValueError(msg)
        return 1
    if adverse not in score.classes:
        msg = f"adverse must be one of the classes {score.classes}, got {adverse!r}."
        raise ValueError(msg)
    return (1 if adverse == score.classes[1] else -1) * (1 if score.slope > 0 else -1)


def _check_texts(score: ScoreFunction, texts: Mapping[Any, Any]) -> None:
    known = set(score.feature_names) | {pair.key for pair in score.of_pairs}
    for key in texts:
        if key not in known and (key[0] if isinstance(key, tuple) else key) not in known:
            msg = f"texts names {key!r}, but the model was fitted to the columns {list(score.feature_names[:10])}."
            raise ValueError(msg)


def _said(function: FittedFunction, texts: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Return what to say of each step, or of each cell."""
    default = texts.get(function.key, function.name)
    for keys in function.phrases():
        found = next((texts[function.key, key] for key in keys if (function.key, key) in texts), default)
        yield _pair(found, function.name)


def _pair(said: Any, name: str) -> tuple[str, str]:
    if isinstance(said, str):
        return name, said
    if isinstance(said, tuple) and len(said) == 2 and all(isinstance(part, str) for part in said):
        return said[0], said[1]
    msg = f"texts must hold a text or a pair (code, text), got {said!r} for {name!r}."
    raise ValueError(msg)
