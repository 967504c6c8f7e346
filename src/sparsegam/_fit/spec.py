"""All options of a fit, parsed and validated once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from sparsegam import _core
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.linear import Coefficients
from sparsegam._design.ramps import check_shapes
from sparsegam._search.options import SearchOptions
from sparsegam._search.penalty import check_lambda0
from sparsegam._search.problem import Progress
from sparsegam._search.ridge import Ridge, ridge_of, ridges_of
from sparsegam._search.swap import SwapSearch
from sparsegam.checks import check_choice, check_integer, shown
from sparsegam.choices import (
    Auto,
    Categorical,
    ClassWeight,
    Cuts,
    Hierarchy,
    Lambda0,
    Lambda2Choice,
    Loss,
    Missing,
    Monotone,
    Order,
    Repeats,
    RowsPerBin,
    Rule,
    Search,
    ShapesChoice,
    SpecialValues,
)
from sparsegam.losses import LOSSES, PROBABILITY_LOSSES, REGRESSION

CUDA = "cuda"
DEVICES = ("cpu", CUDA)
SEARCHES = get_args(Search)
RULES = get_args(Rule)


@dataclass(frozen=True)
class AdditiveOptions:
    """Options of the bins, the constraints and the interactions of additive models."""

    binning: Binning
    constraints: Constraints
    interactions: InteractionOptions


@dataclass(frozen=True, kw_only=True)
class SizeSelection:
    """Options of choosing the number of terms by cross-validation.

    Attributes
    ----------
    cv : int, splitter or iterable, default=None
        The folds; None is five.
    scoring : str or callable, default=None
        The score; None is the log loss, or the mean squared error of a regression, negated.
    rule : {"steady", "best", "one_se"}, default="steady"
        How a ridge and a size are chosen from the scores.
    n_repeats : int or "auto", default="auto"
        How often a number of folds is drawn.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    """

    cv: Any = None
    scoring: Any = None
    rule: Rule = "steady"
    n_repeats: Repeats = "auto"
    random_state: Any = 0

    def __post_init__(self) -> None:
        check_choice("rule", self.rule, RULES)


@dataclass(frozen=True, kw_only=True, eq=False)
class FitSpec:
    """All options of a fit, validated when constructed.

    Attributes
    ----------
    designs : tuple of AdditiveOptions or Coefficients
        The candidate columns and the constraints on models. For cross-validation of additive models, there may be
        several designs to choose from, those without interactions first.
    ridges : tuple of Ridge
        The ridge or, for cross-validation, those to choose from, weakest first.
    options : SearchOptions
        Loss, limits and threads of the search.
    lambda0 : float or {"auto", "aic", "bic"}
        Penalty per term.
    selection : SizeSelection or None
        How the number of terms is chosen by cross-validation; None: by lambda0.
    swap : SwapSearch or None
        Options of the swap search of Liu et al. (2022); None: the exchange search.
    class_weight, positive
        Weights of the classes, and the label whose probability is modelled.
    device : {"cpu", "cuda"}
        Where sums over rows are computed.
    verbose : int
        Whether to show a progress bar.
    callback : callable or None
        Called with (n_terms, objective) for each model found.
    stop : _core.Stop or None
        Lets another thread end the fit.
    """

    designs: tuple[AdditiveOptions, ...] | tuple[Coefficients]
    ridges: tuple[Ridge, ...]
    options: SearchOptions
    lambda0: Lambda0 = "auto"
    selection: SizeSelection | None = None
    swap: SwapSearch | None = None
    class_weight: ClassWeight = None
    positive: Any = None
    device: str = "cpu"
    verbose: int = 0
    callback: Progress | None = None
    stop: _core.Stop | None = None

    def __post_init__(self) -> None:
        check_lambda0(self.lambda0)
        if self.selection is not None:
            check_integer("max_terms", self.options.max_terms, at_least=0)
        if self.swap is not None:
            self._check_swap()

    def _check_swap(self) -> None:
        if self.device == CUDA:
            msg = "search='swap' runs on device='cpu' only, got device='cuda': use search='exchange' on a GPU."
            raise ValueError(msg)
        for design in self.designs:
            if isinstance(design, AdditiveOptions) and design.interactions.is_on:
                given = design.interactions.interactions
                msg = f"search='swap' does not support interactions: use interactions=0, got {shown(given)}."
                raise ValueError(msg)

    @property
    def additive(self) -> AdditiveOptions | None:
        """The options of the first design if the models are additive; None if they are linear."""
        return self.designs[0] if isinstance(self.designs[0], AdditiveOptions) else None

    @property
    def n_plain(self) -> int:
        """Number of designs without interactions, which come first."""
        plain = [one for one in self.designs if not (isinstance(one, AdditiveOptions) and one.interactions.is_on)]
        return len(plain) or len(self.designs)

    @property
    def is_classifier(self) -> bool:
        """Whether the model is a classifier."""
        return LOSSES[self.options.loss].is_classifier


def additive_spec(  # noqa: PLR0913
    *,
    loss: Loss = "logistic",
    lambda0: Lambda0 = "auto",
    lambda2: Lambda2Choice = "auto",
    max_terms: int | None = None,
    selection: SizeSelection | None = None,
    standardize: bool | None = None,
    max_features: int | None = None,
    max_terms_per_feature: int | None = None,
    features_always: Any = None,
    features_never: Any = None,
    feature_cost: Any = None,
    monotone: Monotone = None,
    max_bins: int = 1000,
    thresholds: Any = None,
    min_samples_bin: RowsPerBin = "auto",
    min_events_bin: int = 0,
    categorical: Categorical = "auto",
    min_category_count: int = 5,
    special_values: SpecialValues = None,
    shapes: ShapesChoice = "steps",
    interactions: Any = 0,
    interaction_cost: float | Auto = "auto",
    hierarchy: Hierarchy | None = None,
    max_terms_per_pair: int | None = None,
    missing: Missing = "mean",
    class_weight: ClassWeight = None,
    positive: Any = None,
    device: str = "cpu",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    search: Search = "exchange",
    cuts: Cuts = "auto",
    order: Order = "dynamic",
    certify: bool = False,
    verbose: int = 0,
    callback: Progress | None = None,
) -> FitSpec:
    """Return the options of an additive fit; the parameters are those of the estimators.

    With `selection`, `lambda2` and `shapes` may be lists to choose from, and models without interactions are compared
    with those that have them.
    """
    check_choice("search", search, SEARCHES)
    binning = Binning(
        max_bins=max_bins,
        categorical=categorical,
        min_category_count=min_category_count,
        special_values=special_values,
        thresholds=thresholds,
        min_samples_bin=min_samples_bin,
    )
    listed = _listed_shapes(shapes) if selection is not None else [shapes]
    plain = Constraints(
        monotone=monotone,
        max_features=max_features,
        max_terms_per_feature=max_terms_per_feature,
        features_always=features_always,
        features_never=features_never,
        min_samples_bin=min_samples_bin,
        min_events_bin=min_events_bin,
        feature_cost=feature_cost,
        missing=missing,
        shapes=listed[0],
    )
    products = InteractionOptions(
        interactions=interactions,
        interaction_cost=interaction_cost,
        hierarchy=hierarchy,
        max_terms_per_pair=max_terms_per_pair,
    )
    is_cuda(device)
    rules = [replace(plain, shapes=one) for one in listed]
    designs = tuple(AdditiveOptions(binning, one, products) for one in rules)
    if selection is not None and products.is_on:
        designs = (*(AdditiveOptions(binning, one, InteractionOptions()) for one in rules), *designs)
    ridges = _ridges(lambda2, loss, standardize=standardize, several=selection is not None)
    return FitSpec(
        designs=designs,
        ridges=ridges,
        options=SearchOptions(
            loss=loss,
            lambda2=lambda2 if selection is None else ridges[0].amount,
            standardize=standardize if selection is None else ridges[0].standardized,
            max_terms=max_terms,
            n_jobs=n_jobs,
            time_limit=time_limit,
            certify=certify,
        ),
        lambda0=lambda0,
        selection=selection,
        swap=None if search == "exchange" else SwapSearch(cuts=cuts, order=order),
        class_weight=class_weight,
        positive=positive,
        device=device,
        verbose=verbose,
        callback=callback,
    )


def linear_spec(  # noqa: PLR0913
    *,
    loss: Loss = "logistic",
    lambda0: Lambda0 = "bic",
    lambda2: Lambda2Choice = 1e-3,
    lambda1: float = 0.0,
    max_terms: int | None = None,
    selection: SizeSelection | None = None,
    standardize: bool = True,
    fit_intercept: bool = True,
    coef_bounds: Any = None,
    unpenalized: Any = None,
    class_weight: ClassWeight = None,
    positive: Any = None,
    device: str = "cpu",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    callback: Progress | None = None,
) -> FitSpec:
    """Return the options of a linear fit; the parameters are those of the estimators.

    With `selection`, `lambda2` may be a list to choose from.
    """
    coefficients = Coefficients(
        lambda1=lambda1,
        standardize=standardize,
        fit_intercept=fit_intercept,
        coef_bounds=coef_bounds,
        unpenalized=unpenalized,
    )
    is_cuda(device)
    ridges = _ridges(lambda2, loss, standardize=standardize, several=selection is not None)
    return FitSpec(
        designs=(coefficients,),
        ridges=ridges,
        options=SearchOptions(
            loss=loss,
            lambda2=lambda2 if selection is None else ridges[0].amount,
            standardize=standardize if selection is None else ridges[0].standardized,
            max_terms=max_terms,
            n_jobs=n_jobs,
            time_limit=time_limit,
        ),
        lambda0=lambda0,
        selection=selection,
        class_weight=class_weight,
        positive=positive,
        device=device,
        verbose=verbose,
        callback=callback,
    )


def is_cuda(device: Any) -> bool:
    """Return whether a fit runs on a CUDA device; raise ValueError for an unknown device."""
    check_choice("device", device, DEVICES)
    return bool(device == CUDA)


def check_class_loss(loss: str, regressor: str) -> None:
    """Raise ValueError unless a classifier may use this loss; `regressor` is the estimator for the squared loss."""
    if loss == REGRESSION:
        names = " or ".join(map(repr, PROBABILITY_LOSSES))
        msg = f"loss must be {names}, got {REGRESSION!r}: use {regressor} for this loss."
        raise ValueError(msg)
    if loss in LOSSES and loss not in PROBABILITY_LOSSES:
        names = " or ".join(map(repr, PROBABILITY_LOSSES))
        msg = f"loss={loss!r} does not model probabilities, which a classifier needs: use {names}, or linear_path."
        raise ValueError(msg)


def _listed_shapes(shapes: Any) -> Sequence[Any]:
    if not isinstance(shapes, list | tuple):
        shapes = [shapes]
    if not shapes:
        msg = "shapes must contain at least one of 'steps', 'ramps' and 'both', got an empty list."
        raise ValueError(msg)
    for one in shapes:
        check_shapes(one)
    return list(shapes)


def _ridges(lambda2: Any, loss: str, *, standardize: bool | None, several: bool) -> tuple[Ridge, ...]:
    check_choice("loss", loss, tuple(LOSSES))
    if several:
        return ridges_of(lambda2, loss, standardize=standardize)
    return (ridge_of(lambda2, loss, standardize=standardize),)
