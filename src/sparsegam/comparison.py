"""Other kinds of models on the same folds: linear ones, gradient boosting, and EBM where it is installed."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._cli.outcome import Outcome
from sparsegam._data.frames import make_frame, table_to_pandas
from sparsegam._data.table import read_table
from sparsegam._data.target import read_weights, target_vector
from sparsegam._models.notebook import DisplayedResult, TextTable
from sparsegam.checks import check_integer, quoted


@dataclass(frozen=True)
class Standing:
    """How one kind of model did: score on each fold, seconds per fit, and its size in words; no scores if it failed."""

    name: str
    scores: NDArray[np.float64]
    seconds: float
    size: str

    @property
    def figures(self) -> tuple[float, float] | None:
        """Mean and spread of the scores over the folds."""
        return (float(self.scores.mean()), float(self.scores.std())) if self.scores.size else None

    def cells(self) -> list[str]:
        """Return its line of the table."""
        if self.figures is None:
            return [self.name, self.size, "", ""]
        mean, spread = self.figures
        return [self.name, self.size, f"{mean:.4f} ± {spread:.4f}", f"{self.seconds:.2f}"]


@dataclass(frozen=True)
class Comparison(DisplayedResult):
    """How kinds of models did on the same folds; it prints, and has `to_frame()`.

    Attributes
    ----------
    standings : tuple of Standing
        The sparse model first, then the others.
    measure : {"AUC", "R²"}
        What the scores are.
    """

    standings: tuple[Standing, ...]
    measure: str

    def to_frame(self) -> Any:
        """Return a row for each kind of model: model, mean, spread over the folds, seconds per fit, size."""
        rows = self.standings
        means, spreads = zip(*(s.figures or (None, None) for s in rows), strict=True)
        columns: dict[str, Any] = {"model": [s.name for s in rows], self.measure: list(means), "spread": list(spreads)}
        return make_frame(columns | {"seconds": [s.seconds for s in rows], "size": [s.size for s in rows]})

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(s.name for s in self.standings)} by {self.measure}>"

    def _display(self) -> list[str | TextTable]:
        header = ["model", "size (last fold)", f"{self.measure} ({self._n_folds()} folds)", "fit, s"]
        return [TextTable(header, [standing.cells() for standing in self.standings])]

    def _n_folds(self) -> int:
        return max(s.scores.size for s in self.standings)


def compare(
    X: Any, y: Any, *, positive: Any = None, sample_weight: Any = None, folds: int = 5, **settings: Any
) -> Comparison:
    """Compare the sparse additive model with a linear one, gradient boosting and EBM (if installed) on the same folds.

    Parameters
    ----------
    X : data frame or array-like
        The features.
    y : array-like
        Two labels, or numbers of a regression. Of more than two labels, `positive` says which one against the rest.
    positive : label, optional
        The label whose probability is modelled; of two the second in order unless told.
    sample_weight : array-like, optional
        Weights of the rows.
    folds : int
        Number of folds, shuffled with seed 0, stratified for classes.
    **settings
        Options of the sparse model, such as `special_values` or `max_terms`.

    Returns
    -------
    Comparison
        AUC for classes, R squared for regressions; one thread each.
    """
    check_integer("folds", folds, at_least=2)
    table = read_table(X)
    labels = target_vector(y, table.n_rows)
    classes = _classes(labels, positive)
    if classes is not None:
        labels = np.where(labels == classes[1], classes[1], classes[0])
    weight = None if sample_weight is None else read_weights(sample_weight, table.n_rows)
    outcome = Outcome("y", table, labels, classes, weight=weight)
    standings = compare_outcome(outcome, settings, folds=folds)
    return Comparison(tuple(standings), "R²" if classes is None else "AUC")


def _classes(labels: NDArray[Any], positive: Any) -> tuple[Any, Any] | None:
    """Return the two classes of labels, or None where they are numbers to be predicted."""
    found = np.unique(labels).tolist()
    if positive is not None:
        if positive not in found:
            msg = f"positive={positive!r} is none of the labels, which are {quoted(found)}."
            raise ValueError(msg)
        others = [label for label in found if label != positive]
        return (others[0] if len(others) == 1 else f"not {positive}", positive)
    if len(found) == 2:
        return (found[0], found[1])
    if labels.dtype.kind in "iuf":
        return None
    msg = f"y has {len(found)} labels ({quoted(found)}): name the one that is compared with the rest as positive=."
    raise ValueError(msg)


def compare_outcome(outcome: Outcome, settings: dict[str, Any], *, folds: int = 5) -> list[Standing]:
    """Fit each kind of model on the same folds and score it on the rows left out.

    Parameters
    ----------
    outcome : Outcome
        Features and labels.
    settings : dict
        Options of the sparse model.
    folds : int
        Number of folds, shuffled with seed 0, stratified for classes.

    Returns
    -------
    list of Standing
        AUC for classes, R squared for regressions; one thread each.
    """
    from sklearn.model_selection import KFold, StratifiedKFold
    from threadpoolctl import threadpool_limits

    if find_spec("pandas") is None:
        msg = "this needs pandas: pip install pandas."
        raise ValueError(msg)
    X = table_to_pandas(outcome.table)
    y = outcome.signs if outcome.classes is None else (outcome.signs > 0).astype(np.int64)
    splitter = KFold if outcome.classes is None else StratifiedKFold
    parts = list(splitter(folds, shuffle=True, random_state=0).split(X, y))
    out = []
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, new, size in _contenders(outcome, settings):
            try:
                out.append(_standing(name, new, size, (X, y, outcome.weight), parts))
            except Exception as error:
                if name == "sparsegam":
                    raise
                out.append(Standing(name, np.empty(0), float("nan"), f"failed: {type(error).__name__}"))
    return out


Contender = tuple[str, Callable[[], Any], Callable[[Any], str]]


def _contenders(outcome: Outcome, settings: dict[str, Any]) -> list[Contender]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, Ridge

    from sparsegam.gam import SparseGAMClassifier, SparseGAMRegressor

    sparse, trees, linear = (
        (SparseGAMRegressor, HistGradientBoostingRegressor, Ridge)
        if outcome.classes is None
        else (SparseGAMClassifier, HistGradientBoostingClassifier, LogisticRegression)
    )
    options = {} if outcome.classes is None else {"max_iter": 2000}
    rows: list[Contender] = [
        ("sparsegam", lambda: sparse(**settings), lambda model: f"{model.n_terms_} terms"),
        (
            "linear (all features)",
            lambda: _pipeline(linear(**options)),
            lambda model: f"{model[-1].coef_.size} coefficients",
        ),
        ("gradient boosting", lambda: _numbered(trees(random_state=0)), lambda model: f"{model[-1].n_iter_} trees"),
    ]
    return rows + _ebm(regression=outcome.classes is None)


def _ebm(*, regression: bool) -> list[Contender]:
    try:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    except ImportError:
        return []
    kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
    return [
        (
            "EBM (no interactions)",
            lambda: _undated(kind(interactions=0, n_jobs=1, random_state=0)),
            lambda m: f"{len(m[-1].bins_)} shapes",
        )
    ]


def _encoder(*, one_hot: bool) -> Any:
    """Turn dates into numbers and categories into columns or codes."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

    levels = (
        OneHotEncoder(handle_unknown="ignore", min_frequency=5)
        if one_hot
        else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    )
    return make_column_transformer(
        (levels, make_column_selector(dtype_include="category")),
        (FunctionTransformer(_days), make_column_selector(dtype_include=["datetime", object])),
        remainder="passthrough",
        sparse_threshold=0.0,
    )


def _days(frame: Any) -> Any:
    import pandas as pd

    return frame.apply(lambda column: (pd.to_datetime(column) - pd.Timestamp(0)) / pd.Timedelta(days=1))


def _pipeline(model: Any) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        _encoder(one_hot=True), SimpleImputer(strategy="median", add_indicator=True), StandardScaler(), model
    )


def _undated(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(_without_dates), model)


def _without_dates(frame: Any) -> Any:
    """Return the frame with dates as numbers of days."""
    dated = list(frame.select_dtypes(include=["datetime", object]).columns)
    return frame.assign(**_days(frame[dated])) if dated else frame


def _numbered(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_encoder(one_hot=False), model)


def _standing(name: str, new: Callable[[], Any], size: Callable[[Any], str], rows: Any, parts: Any) -> Standing:
    from sklearn.metrics import r2_score, roc_auc_score

    X, y, weight = rows
    scores, seconds, model = [], [], None
    for train, test in parts:
        start = time.perf_counter()
        model = new()
        model.fit(X.iloc[train], y[train], **_weighted(model, weight, train))
        seconds.append(time.perf_counter() - start)
        each = None if weight is None else weight[test]
        if hasattr(model, "predict_proba"):
            scores.append(roc_auc_score(y[test], model.predict_proba(X.iloc[test])[:, 1], sample_weight=each))
        else:
            scores.append(r2_score(y[test], model.predict(X.iloc[test]), sample_weight=each))
    return Standing(name, np.array(scores), float(np.mean(seconds)), size(model))


def _weighted(model: Any, weight: Any, rows: Any) -> dict[str, Any]:
    """Return the weights of rows as a model takes them: a pipeline hands them to its last step."""
    if weight is None:
        return {}
    last = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    return {f"{last}sample_weight": weight[rows]}
