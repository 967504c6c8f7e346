"""Fits: every estimator, path function and command builds and searches its problem here.

    spec = additive_spec(loss="logistic", max_bins=100)
    data = read_data(spec, X, y, sample_weight)
    result = fit(spec, data)              # result.model, result.lambda0, result.finished, ...
    path = search_path(spec, data)        # the best model of every size

The time limit of `spec` starts with `read_data` and covers reading, binning, searching and refitting, of all classes
and folds together. `fit` and `search_path` warn if it ended a search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._fit.progress import watched
from sparsegam._fit.spec import FitSpec
from sparsegam._fit.training import FitData, build_problem
from sparsegam._fit.warnings import warn_about_end, warn_about_models
from sparsegam._models.one_vs_rest import OneVsRestModel
from sparsegam._search.interactions import prepare
from sparsegam._search.path import LinearPath, Path
from sparsegam._search.problem import Problem
from sparsegam._search.ridge import Ridge
from sparsegam._search.solver import Certificate
from sparsegam._search.solver import fit as search_model
from sparsegam._search.swap import fit_swap

# Cross-validation is imported when it is used, as it loads scikit-learn, which takes a second.
if TYPE_CHECKING:
    from sparsegam._fit.cross_validation import Fold, SizeChoice


@dataclass(frozen=True, eq=False)
class FitResult:
    """The model of a fit, how it was found, and the problem it was found in.

    Attributes
    ----------
    spec, data : FitSpec, FitData
        Options and data of the fit.
    model : Model, LinearModel or OneVsRestModel
        The model.
    parts : tuple of FitResult
        The fits of each class against the rest if there are more than two classes, otherwise empty. The attributes
        below are those of the only fit; of several fits, `loss` and `objective` are sums and `n_iter` is the largest.
    loss, objective : float
        The loss, and the loss plus all penalties.
    n_iter : int
        Number of moves of the search.
    finished : bool
        False if the time limit ended a search.
    counts : dict
        Counts of the operations of the search, summed over classes.
    lambda0 : float
        The penalty per term.
    ridge : Ridge or None
        The ridge penalty.
    certificate : Certificate or None
        What was proved about the model.
    problem : Problem or None
        The problem: its design, rows and penalties.
    choice : SizeChoice or None
        For cross-validation: the scores and the path.
    """

    spec: FitSpec
    data: FitData
    model: Any
    loss: float
    objective: float
    n_iter: int
    finished: bool
    counts: dict[str, int] = field(default_factory=dict)
    lambda0: float = np.nan
    ridge: Ridge | None = None
    certificate: Certificate | None = None
    problem: Problem[Any] | None = None
    choice: "SizeChoice | None" = None
    parts: tuple["FitResult", ...] = ()

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes, the positive class last; None for a regression."""
        return self.data.classes

    @property
    def models(self) -> tuple[Any, ...]:
        """The model, or one per class."""
        return tuple(part.model for part in self.parts) if self.parts else (self.model,)


def fit(spec: FitSpec, data: FitData, groups: Any = None) -> FitResult:
    """Fit one model, or one per class if there are more than two, at spec.lambda0 or of cross-validated size.

    Parameters
    ----------
    spec : FitSpec
        Options of the fit.
    data : FitData
        The data, from `read_data`.
    groups : array-like of shape (n_rows,), default=None
        Groups of rows, for splitters that keep them together.

    Returns
    -------
    FitResult
        The model and how it was found.
    """
    folds: list[Fold] = []
    if spec.selection is not None:
        from sparsegam._fit.cross_validation import make_folds

        folds = make_folds(spec, data, data.source, groups)
    result = _fit_one(spec, data, folds) if data.n_models == 1 else _fit_each_class(spec, data, folds)
    warn_about_end(spec, max(model.n_terms for model in result.models), finished=result.finished)
    warn_about_models(spec, result.models, data.mean_weight)
    if not data.from_stream:
        data.warn_about_columns(spec)
    return result


def search_path(spec: FitSpec, data: FitData) -> Path[Any]:
    """Find the best model of every size up to max_terms; the target must be binary or numeric."""
    problem = build_problem(spec, data)
    kind: type[Path[Any]] = Path if spec.additive else LinearPath
    with watched(spec.callback, spec.verbose, problem.max_terms) as report:
        path = kind.search(prepare(problem), data.classes, report)
    warn_about_end(spec, int(path.n_terms[-1]), finished=path.finished)
    if not data.from_stream:
        data.warn_about_columns(spec)
    return path


def _fit_one(spec: FitSpec, data: FitData, folds: "Sequence[Fold]", backend: Any = None) -> FitResult:
    return _fit_at_lambda0(spec, data, backend) if spec.selection is None else _fit_by_cv(spec, data, folds)


def _fit_at_lambda0(spec: FitSpec, data: FitData, backend: Any) -> FitResult:
    problem = build_problem(spec, data, backend=backend)
    with watched(spec.callback, spec.verbose, spec.options.max_terms) as report:
        problem = prepare(problem, spec.lambda0)
        if spec.swap is None:
            found = search_model(problem, spec.lambda0, report)
        else:
            found = fit_swap(problem, spec.lambda0, spec.swap)
    return FitResult(
        spec,
        data,
        problem.model(found.point, data.classes),
        loss=found.point.loss,
        objective=found.objective,
        n_iter=max(1, found.counts.get("moves", 1)),
        finished=found.finished,
        counts=found.counts,
        lambda0=found.lambda0,
        ridge=problem.ridge,
        certificate=found.certificate,
        problem=problem,
    )


def _fit_by_cv(spec: FitSpec, data: FitData, folds: "Sequence[Fold]") -> FitResult:
    from sparsegam._fit.cross_validation import choose_size, middle_lambda0

    choice = choose_size(spec, data, folds)
    path, index = choice.path, choice.index
    result = FitResult(
        spec,
        data,
        path.models[index],
        loss=float(path.loss[index]),
        objective=float(path.objective[index]),
        n_iter=max(1, path.search_stats.get("moves", 1)),
        finished=choice.finished,
        counts=path.search_stats,
        lambda0=middle_lambda0(path, index),
        ridge=choice.scores.ridges[choice.ridge].at(path.total_weight),
        problem=choice.problem,
        choice=choice,
    )
    choice.scores.warn_about_choice(choice.size, spec.options.max_terms)
    return result


def _fit_each_class(spec: FitSpec, data: FitData, folds: "Sequence[Fold]") -> FitResult:
    """Fit each class against the rest, on the same bins and folds; the classes share the time left."""
    assert data.classes is not None
    n, parts, backend = len(data.classes), list[FitResult](), data.make_backend(spec)
    for k in range(n):
        mine = replace(data.against_rest(k), deadline=data.deadline.share(1 / (n - k)))
        # Folds whose training rows lack the class are skipped.
        rows = (data.target.values == k) & (data.target.weight > 0) if folds else np.zeros(0, dtype=bool)
        parts.append(_fit_one(spec, mine, [fold for fold in folds if np.any(rows[fold[0]])], backend))
    return FitResult(
        spec,
        data,
        OneVsRestModel(tuple(part.model for part in parts), tuple(data.classes.tolist())),
        loss=sum(part.loss for part in parts),
        objective=sum(part.objective for part in parts),
        n_iter=max(part.n_iter for part in parts),
        finished=all(part.finished for part in parts),
        counts={name: sum(part.counts[name] for part in parts) for name in parts[0].counts},
        parts=tuple(parts),
    )
