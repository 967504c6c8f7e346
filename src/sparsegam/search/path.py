"""The frontier of sizes: the best model found with 0, 1, 2, ... terms, to be asked by size or by price per term."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.checks import check_integer
from sparsegam.data.frames import read
from sparsegam.data.scales import Scale
from sparsegam.data.targets import binary, one_column, real, weights
from sparsegam.design.binning import Binning
from sparsegam.design.rules import Rules
from sparsegam.design.threshold import Design
from sparsegam.design.training import training_of
from sparsegam.models.additive import Model
from sparsegam.parameters import documented, pick
from sparsegam.search.options import Options
from sparsegam.search.price import check_lambda0, noise_price, price, warn_of_weights
from sparsegam.search.problem import Problem, pose
from sparsegam.search.progress import Progress, watched
from sparsegam.search.solver import frontier


@documented
def gam_path(  # noqa: D417, PLR0913  (`documented` fills in the others)
    X: Any,
    y: Any,
    *,
    loss: str = "logistic",
    lambda2: float = 1e-3,
    max_terms: int = 50,
    max_features: int | None = None,
    max_terms_per_feature: int | None = None,
    features_always: Any = None,
    features_never: Any = None,
    feature_cost: Any = None,
    monotone: Any = None,
    max_bins: int = 1000,
    thresholds: Any = None,
    min_samples_bin: int = 1,
    categorical: Any = "auto",
    min_category_count: int = 5,
    special_values: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    callback: Progress | None = None,
) -> "Path":
    """Find the best additive model of every size.

    For each k up to `max_terms` the search minimises

        sum_i s_i loss(y_i, f(x_i)) + lambda2 sum_j (sigma_j w_j)^2   over f with k terms,

    each of them `x <= t`, `x == level`, `x is missing` or the like.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Numbers, booleans, dates, text and categories; values may be missing.
    y : array-like of shape (n_rows,)
        Labels of two classes, or numbers for the squared loss.
    loss : {"logistic", "exponential", "squared"}
        The loss, summed over rows.
    {search}
    {table}
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows; a weight of 2 is the same as the row twice.
    {run}
    {report}

    Returns
    -------
    Path
        The models by size.

    Examples
    --------
    >>> from sparsegam import gam_path
    >>> x = [[1], [2], [3], [4], [5], [6]]
    >>> path = gam_path(x, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], loss="squared", lambda2=0.0)
    >>> print(path.at(n_terms=1))
    prediction = 1
        -1 x 1[A <= 3]  # A: x0
    """
    given = locals()
    options, binning, rules = pick(Options, given), pick(Binning, given), pick(Rules, given)
    table = read(X)
    labels = one_column(y, table.n_rows)
    weight = weights(sample_weight, table.n_rows)
    classes, target = (None, real(labels)) if loss == "squared" else binary(labels, weight)
    problem = pose(table, target, weight, options, binning, rules)
    with watched(callback, verbose, problem.max_terms) as report:
        return search_path(problem, classes, report)


@dataclass(frozen=True)
class Path:
    """The best model found of each size.

    Attributes
    ----------
    n_terms : ndarray of int
        The sizes.
    loss : ndarray
        Loss of each model, a sum over rows.
    objective : ndarray
        Loss and ridge penalty of each model.
    lambda0 : ndarray
        The largest price per term at which a size is the best choice, that is the slope of the lower convex hull of
        `objective` on its left; infinite for the smallest size. A size is best from there down to the next number.
        NaN for sizes that are best at no price.
    finished : bool
        False where `time_limit` ended the search.
    search_stats : dict
        Counts of what the search did.
    """

    models: tuple[Model, ...]
    n_terms: NDArray[np.int64]
    loss: NDArray[np.float64]
    objective: NDArray[np.float64]
    lambda0: NDArray[np.float64]
    total_weight: float
    finished: bool
    search_stats: dict[str, int]
    mean_weight: float = 1.0

    def at(self, *, n_terms: int | None = None, lambda0: float | str | None = None) -> Model:
        """Return one model.

        Parameters
        ----------
        n_terms : int, optional
            Its size.
        lambda0 : float or {"aic", "bic"}, optional
            The price per term: the model that minimises objective + lambda0 * n_terms is returned.
            For the squared loss the names are in units of the noise variance, which is estimated.

        Returns
        -------
        Model
            The model asked for.
        """
        if (n_terms is None) == (lambda0 is None):
            msg = f"give either n_terms or lambda0, got n_terms={n_terms!r} and lambda0={lambda0!r}."
            raise ValueError(msg)
        return self.models[self._with_size(n_terms) if lambda0 is None else self._cheapest(lambda0)]

    def to_frame(self) -> Any:
        """Return the path as a pandas DataFrame, or as a dict of arrays where pandas is not installed."""
        columns = {
            "n_terms": self.n_terms,
            "n_features": np.array([len(model.features) for model in self.models]),
            "loss": self.loss,
            "objective": self.objective,
            "lambda0": self.lambda0,
        }
        try:
            import pandas as pd
        except ImportError:
            return columns
        return pd.DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the objective against the number of terms; sizes that are best at some price are filled.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        ax = new_axes() if ax is None else ax
        chosen = ~np.isnan(self.lambda0)
        ax.plot(self.n_terms, self.objective, marker="o", markerfacecolor="white", color="tab:blue")
        ax.plot(self.n_terms[chosen], self.objective[chosen], "o", color="tab:blue", label="best at some lambda0")
        ax.set(xlabel="number of terms", ylabel="objective (loss + ridge)")
        ax.legend()
        return ax

    def _with_size(self, n_terms: int | None) -> int:
        check_integer("n_terms", n_terms)
        found = np.flatnonzero(self.n_terms == n_terms)
        if found.size == 0:
            msg = f"the path holds sizes {self.n_terms[0]} to {self.n_terms[-1]}, got {n_terms}: raise max_terms."
            raise ValueError(msg)
        return int(found[0])

    def _cheapest(self, lambda0: float | str) -> int:
        check_lambda0(lambda0)
        warn_of_weights(lambda0, self.mean_weight)
        unit = price(lambda0, self.total_weight)
        if isinstance(lambda0, str) and self.models[0].loss == "squared":
            unit = noise_price(unit, self.total_weight, self.objective[0], self._solve)
        return int(np.argmin(self.objective + unit * self.n_terms))

    def _solve(self, lambda0: float) -> tuple[float, int]:
        """Return objective and size of the best model at a price."""
        best = int(np.argmin(self.objective + lambda0 * self.n_terms))
        return float(self.objective[best]), int(self.n_terms[best])

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)

    def __repr__(self) -> str:
        state = "" if self.finished else ", stopped by time_limit"
        return (
            f"<Path: {self.models[0].loss}, {self.n_terms[0]} to {self.n_terms[-1]} terms, "
            f"objective {self.objective[0]:.6g} to {self.objective[-1]:.6g}{state}>"
        )


def build_model(design: Design, point: _core.Point, loss: str, classes: NDArray[Any] | None) -> Model:
    """Put one point of a search into the words of the data."""
    order = np.argsort(point.columns)
    model = Model(
        intercept=float(point.intercept),
        terms=tuple(design.term(int(point.columns[i]), float(point.coef[i])) for i in order),
        feature_names=design.names,
        loss=loss,
        classes=None if classes is None else (classes[0], classes[1]),
        special_values={feature.name: feature.special_values for feature in design.features if feature.special},
        scales=_scales(design, set(design.group[point.columns])),
    )
    return model.remembering(training_of(design, point))


def _scales(design: Design, used: set[int]) -> dict[str, Scale]:
    """Say what features hold that are not numbers; the levels of a category only where the model has a use for them."""
    return {
        feature.name: feature.scale
        for j, feature in enumerate(design.features)
        if feature.scale.kind != "number" and (j in used or not feature.scale.has_levels)
    }


def hull_prices(n_terms: NDArray[np.int64], objective: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each size, the slope of the lower convex hull on its left; NaN off the hull or where it rises."""
    prices = np.full(objective.size, np.nan)
    prices[0] = np.inf
    corners = [0]
    for k in range(1, objective.size):
        while True:
            slope = (objective[corners[-1]] - objective[k]) / (n_terms[k] - n_terms[corners[-1]])
            if slope < prices[corners[-1]]:
                break
            prices[corners.pop()] = np.nan
        if slope > 0:
            prices[k] = slope
            corners.append(k)
    return prices


def search_path(problem: Problem, classes: NDArray[Any] | None, callback: Progress | None = None) -> Path:
    """Search the frontier of a problem and put it into the words of the data."""
    search = frontier(problem, callback)
    points: Sequence[_core.Point] = search.points
    n_terms = np.array([len(point.columns) for point in points], dtype=np.int64)
    objective = np.array([point.loss + point.ridge for point in points])
    return Path(
        models=tuple(build_model(problem.design, point, problem.options.loss, classes) for point in points),
        n_terms=n_terms,
        loss=np.array([point.loss for point in points]),
        objective=objective,
        lambda0=hull_prices(n_terms, objective),
        total_weight=problem.total_weight,
        finished=search.finished,
        search_stats=dict(search.counts),
        mean_weight=problem.mean_weight,
    )


def new_axes() -> Any:
    """Return the axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        msg = "plots need matplotlib: pip install 'sparsegam[plot]'."
        raise ImportError(msg) from error
    return plt.subplots()[1]
