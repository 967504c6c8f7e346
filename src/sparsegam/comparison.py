"""Compare a sparse additive model with a linear model, gradient boosting and EBM by cross-validation."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame, table_to_pandas
from sparsegam._data.table import read_table
from sparsegam._data.target import read_weights, target_vector
from sparsegam._models.display import DisplayedResult, TextTable
from sparsegam.checks import check_integer, quoted


@dataclass(frozen=True)
class ModelResult:
    """The cross-validated scores, the mean fitting time and the size of one kind of model.

    Attributes
    ----------
    name : str
        The kind of model.
    scores : ndarray
        Test score of each fold; empty if a fit failed.
    seconds : float
        Mean fitting time per fold.
    size : str
        Size of the model of the last fold, or the reason why the fit failed.
    """

    name: str
    scores: NDArray[np.float64]
    seconds: float
    size: str

    @property
    def failed(self) -> bool:
        """Whether a fit failed."""
        return not self.scores.size

    def cells(self) -> list[str]:
        """Return the cells of the line of this model in the printed table."""
        if self.failed:
            return [self.name, self.size, "", ""]
        return [self.name, self.size, f"{self.scores.mean():.4f} ± {self.scores.std():.4f}", f"{self.seconds:.2f}"]


@dataclass(frozen=True)
class Comparison(DisplayedResult):
    """The result of `compare`.

    Attributes
    ----------
    results : tuple of ModelResult
        The sparse model first, then the others.
    measure : {"AUC", "R²"}
        The score by which the models are compared.
    """

    results: tuple[ModelResult, ...]
    measure: str

    def to_frame(self) -> Any:
        """Return one row per kind of model: mean and standard deviation of the scores, seconds per fit, size."""
        scores = [result.scores for result in self.results]
        return make_frame(
            {
                "model": [result.name for result in self.results],
                self.measure: [float(one.mean()) if one.size else None for one in scores],
                "std": [float(one.std()) if one.size else None for one in scores],
                "seconds": [result.seconds for result in self.results],
                "size": [result.size for result in self.results],
            }
        )

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(result.name for result in self.results)} by {self.measure}>"

    def _display(self) -> list[str | TextTable]:
        n_folds = max(result.scores.size for result in self.results)
        header = ["model", "size (last fold)", f"{self.measure} ({n_folds} folds)", "fit, s"]
        return [TextTable(header, [result.cells() for result in self.results])]


def compare(
    X: Any, y: Any, *, positive: Any = None, sample_weight: Any = None, folds: int = 5, **settings: Any
) -> Comparison:
    """Compare the sparse additive model with other kinds of models on the same cross-validation folds.

    The other models are a linear model on all features, gradient boosting and, if `interpret` is installed, an
    explainable boosting machine (EBM) without interactions. Every fit uses one thread. Requires pandas.

    Parameters
    ----------
    X : data frame or array-like
        The features.
    y : array-like
        Two labels, or the numeric target of a regression. With more than two labels, `positive` is compared with the
        rest.
    positive : label, optional
        The positive class. The default is the last of the sorted labels.
    sample_weight : array-like, optional
        Weights of the rows.
    folds : int, default=5
        Number of folds. They are shuffled with seed 0, and stratified for classifiers.
    **settings
        Parameters of the sparse model, such as `special_values` or `max_terms`.

    Returns
    -------
    Comparison
        The test AUC of classifiers or the R squared of regressors, by fold.
    """
    check_integer("folds", folds, at_least=2)
    if find_spec("pandas") is None:
        msg = "compare needs pandas: pip install pandas."
        raise ImportError(msg)
    table = read_table(X)
    labels = target_vector(y, table.n_rows)
    weight = None if sample_weight is None else read_weights(sample_weight, table.n_rows)
    positive = _positive_class(labels, positive)
    regression = positive is None
    data = _Data(
        table_to_pandas(table), labels.astype(np.float64) if regression else (labels == positive).astype(int), weight
    )
    models = list(_models(settings, regression=regression))
    return Comparison(tuple(_results(models, data, folds, regression=regression)), "R²" if regression else "AUC")


@dataclass(frozen=True)
class _Data:
    """The features, a 0/1 or numeric target, and weights or None."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


@dataclass(frozen=True)
class _Model:
    """A kind of model: its name, a function that creates it, and a function that describes its size."""

    name: str
    create: Callable[[], Any]
    size: Callable[[Any], str]


def _positive_class(labels: NDArray[Any], positive: Any) -> Any:
    """Return the positive class, or None for a regression."""
    found = np.unique(labels).tolist()
    if positive is not None:
        if positive not in found:
            msg = f"positive={positive!r} is not a label of y. Labels: {quoted(found)}."
            raise ValueError(msg)
        return positive
    if len(found) == 2:
        return found[1]
    if labels.dtype.kind in "iuf":
        return None
    msg = f"y has {len(found)} labels ({quoted(found)}): set positive= to the label to compare with the rest."
    raise ValueError(msg)


def _results(models: list[_Model], data: _Data, folds: int, *, regression: bool) -> Iterator[ModelResult]:
    """Yield the cross-validated result of each model; only errors of the first, the sparse model, are raised."""
    from sklearn.model_selection import KFold, StratifiedKFold
    from threadpoolctl import threadpool_limits

    splitter = (KFold if regression else StratifiedKFold)(folds, shuffle=True, random_state=0)
    parts = list(splitter.split(data.X, data.y))
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            try:
                yield _cross_validated(model, data, parts)
            except Exception as error:
                if model is models[0]:
                    raise
                yield ModelResult(model.name, np.empty(0), float("nan"), f"failed: {type(error).__name__}")


def _cross_validated(model: _Model, data: _Data, parts: list[tuple[Any, Any]]) -> ModelResult:
    from sklearn.metrics import r2_score, roc_auc_score

    scores, seconds, fitted = [], [], None
    for train, test in parts:
        start = time.perf_counter()
        fitted = model.create()
        fitted.fit(data.X.iloc[train], data.y[train], **_fit_weights(fitted, data.weight, train))
        seconds.append(time.perf_counter() - start)
        weight = None if data.weight is None else data.weight[test]
        if hasattr(fitted, "predict_proba"):
            predicted = fitted.predict_proba(data.X.iloc[test])[:, 1]
            scores.append(roc_auc_score(data.y[test], predicted, sample_weight=weight))
        else:
            scores.append(r2_score(data.y[test], fitted.predict(data.X.iloc[test]), sample_weight=weight))
    return ModelResult(model.name, np.array(scores), float(np.mean(seconds)), model.size(fitted))


def _fit_weights(model: Any, weight: NDArray[np.float64] | None, rows: Any) -> dict[str, Any]:
    """Return the keyword argument for sample weights; pipelines pass them to their last step."""
    if weight is None:
        return {}
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    return {f"{prefix}sample_weight": weight[rows]}


def _models(settings: dict[str, Any], *, regression: bool) -> Iterator[_Model]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from sparsegam.gam import SparseGAMClassifier, SparseGAMRegressor

    sparse = SparseGAMRegressor if regression else SparseGAMClassifier
    trees = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier

    def linear() -> Any:
        model = Ridge() if regression else LogisticRegression(max_iter=2000)
        imputer = SimpleImputer(strategy="median", add_indicator=True)
        return make_pipeline(_encoder(one_hot=True), imputer, StandardScaler(), model)

    def boosting() -> Any:
        return make_pipeline(_encoder(one_hot=False), trees(random_state=0))

    yield _Model("sparsegam", lambda: sparse(**settings), lambda model: f"{model.n_terms_} terms")
    yield _Model("linear (all features)", linear, lambda model: f"{model[-1].coef_.size} coefficients")
    yield _Model("gradient boosting", boosting, lambda model: f"{model[-1].n_iter_} trees")
    yield from _ebm(regression=regression)


def _ebm(*, regression: bool) -> Iterator[_Model]:
    """Yield an EBM if the package interpret is installed."""
    try:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    except ImportError:
        return
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier

    def create() -> Any:
        return make_pipeline(FunctionTransformer(_with_numeric_dates), kind(interactions=0, n_jobs=1, random_state=0))

    yield _Model("EBM (no interactions)", create, lambda model: f"{len(model[-1].bins_)} shape functions")


def _encoder(*, one_hot: bool) -> Any:
    """Return a transformer that converts dates to numbers, and categories to 0/1 columns or integer codes."""
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
    """Return dates as numbers of days since 1970."""
    import pandas as pd

    return frame.apply(lambda column: (pd.to_datetime(column) - pd.Timestamp(0)) / pd.Timedelta(days=1))


def _with_numeric_dates(frame: Any) -> Any:
    """Return a data frame with dates as numbers of days since 1970."""
    dates = list(frame.select_dtypes(include=["datetime", object]).columns)
    return frame.assign(**_days(frame[dates])) if dates else frame
