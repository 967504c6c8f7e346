"""Constraints on models: monotonicity, limits, required and forbidden features, feature costs, and interactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.table import position
from sparsegam._design.binning import check_min_samples_bin
from sparsegam._models.training import RULES
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, check_number, shown

DIRECTIONS: dict[Any, int] = {"increasing": 1, "decreasing": -1, 1: 1, -1: -1, 0: 0, None: 0}
AUTO = "auto"
# Default cost of an interaction, as a multiple of the cost of a step. Set by benchmarks/interactions.py.
INTERACTION_COST = 2.0
HIERARCHIES = ("weak", "strong")

Pair = tuple[int, int]
"""Positions of two features, the smaller one first."""


@dataclass(frozen=True)
class Constraints:
    """Constraints on the terms of a model; the parameters of the same names of `SparseGAMClassifier`.

    Values that are wrong for any table raise an error at construction, the others when they are applied to a table.
    """

    monotone: Any = None
    max_features: int | None = None
    max_terms_per_feature: int | None = None
    features_always: Any = None
    features_never: Any = None
    min_samples_bin: Any = 1
    min_events_bin: int = 0
    feature_cost: Any = None
    missing: str = "mean"
    shapes: Any = "steps"

    def __post_init__(self) -> None:
        for option in ("max_features", "max_terms_per_feature"):
            if getattr(self, option) is not None:
                check_integer(option, getattr(self, option), at_least=1)
        check_min_samples_bin(self.min_samples_bin)
        check_integer("min_events_bin", self.min_events_bin, at_least=0)
        check_choice("missing", self.missing, tuple(RULES))
        for option in ("features_always", "features_never"):
            if isinstance(getattr(self, option), str):
                msg = f"{option} must be a list of columns, got {shown(getattr(self, option))}."
                raise ValueError(msg)
        if self.feature_cost is not None and not isinstance(self.feature_cost, Mapping):
            msg = f"feature_cost must be a dict from column to factor, got {shown(self.feature_cost)}."
            raise ValueError(msg)

    def directions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the monotone direction of each feature: 1 (increasing), -1 (decreasing) or 0."""
        out = np.zeros(len(names), dtype=np.int64)
        for j, value in _by_position(self.monotone, names).items():
            out[j] = _direction(value, names[j])
        return out

    def costs(self, names: Sequence[str]) -> FloatArray:
        """Return the factor on lambda0 of each feature."""
        out = np.ones(len(names))
        for key, factor in (self.feature_cost or {}).items():
            check_number(f"feature_cost[{shown(key)}]", factor, at_least=0.0)
            out[position(key, names, "feature_cost")] = factor
        return out

    def required(self, names: Sequence[str]) -> list[int]:
        """Return the positions of the features that must have a term in every model."""
        found = [position(key, names, "features_always") for key in _as_list(self.features_always)]
        both = [names[j] for j in found if j in self.forbidden(names)]
        if both:
            msg = f"{both} are in both features_always and features_never."
            raise ValueError(msg)
        if self.max_features is not None and len(found) > self.max_features:
            msg = f"features_always lists {len(found)} features, but max_features is {self.max_features}."
            raise ValueError(msg)
        return sorted(set(found))

    def forbidden(self, names: Sequence[str]) -> list[int]:
        """Return the positions of the features that no model may use."""
        self.forbidden_pairs(names)  # Pairs are checked even for models without interactions.
        given = _as_list(self.features_never)
        return [position(key, names, "features_never") for key in given if not _is_pair(key, names)]

    def forbidden_pairs(self, names: Sequence[str]) -> list[Pair]:
        """Return the pairs of features that may not interact."""
        given = _as_list(self.features_never)
        return [pair_positions(key, names, "features_never") for key in given if _is_pair(key, names)]


@dataclass(frozen=True)
class InteractionOptions:
    """Options for interactions; the parameters of the same names of `SparseGAMClassifier`.

    Values that are wrong for any table raise an error at construction, the others when they are applied to a table.
    """

    interactions: Any = 0
    interaction_cost: Any = AUTO
    hierarchy: str | None = None
    max_terms_per_pair: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.interactions, str):
            check_choice("interactions", self.interactions, (AUTO,), other="a number of pairs, or a list of pairs")
        elif not self._is_list:
            check_integer("interactions", self.interactions, at_least=0)
        if self.hierarchy is not None:
            check_choice("hierarchy", self.hierarchy, HIERARCHIES, other="or None")
        if self.max_terms_per_pair is not None:
            check_integer("max_terms_per_pair", self.max_terms_per_pair, at_least=1)
        if isinstance(self.interaction_cost, str):
            check_choice("interaction_cost", self.interaction_cost, (AUTO,), other="or a number >= 0")
        else:
            check_number("interaction_cost", self.interaction_cost, at_least=0.0)

    @property
    def _is_list(self) -> bool:
        return isinstance(self.interactions, Iterable) and not isinstance(self.interactions, str)

    @property
    def is_on(self) -> bool:
        """Whether any pair of features may interact."""
        return bool(list(self.interactions)) if self._is_list else self.interactions != 0

    @property
    def max_pairs(self) -> int | None:
        """Largest number of pairs that may interact; None for interactions="auto" and for a list of pairs."""
        return None if self._is_list or isinstance(self.interactions, str) else int(self.interactions)

    @property
    def is_auto(self) -> bool:
        """Whether only pairs with a statistically significant gain may interact."""
        return isinstance(self.interactions, str)

    @property
    def cost(self) -> float:
        """Factor on lambda0 of an interaction."""
        return INTERACTION_COST if isinstance(self.interaction_cost, str) else float(self.interaction_cost)

    def pairs(self, names: Sequence[str], forbidden: Sequence[int], forbidden_pairs: Sequence[Pair]) -> list[Pair]:
        """Return the pairs of features that may interact."""
        if self._is_list:
            found = sorted({pair_positions(pair, names, "interactions") for pair in self.interactions})
        else:
            found = list(combinations(range(len(names)), 2))
        return [pair for pair in found if pair not in forbidden_pairs and not {*pair} & {*forbidden}]


def pair_positions(pair: Any, names: Sequence[str], option: str) -> Pair:
    """Return the positions of two different columns, the smaller one first."""
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        msg = f"{option} must contain pairs of columns, such as [('age', 'priors')], got {shown(pair)}."
        raise ValueError(msg)
    first, second = sorted(position(key, names, option) for key in pair)
    if first == second:
        msg = f"{option} must contain pairs of different columns, got {shown(pair)}."
        raise ValueError(msg)
    return first, second


def _is_pair(key: Any, names: Sequence[str]) -> bool:
    """Return whether a key is a pair of columns; a tuple may also be the name of one column."""
    return isinstance(key, tuple | list) and str(key) not in names


def _as_list(columns: Any) -> list[Any]:
    return [] if columns is None else list(columns)


def _by_position(monotone: Any, names: Sequence[str]) -> dict[int, Any]:
    if monotone is None:
        return {}
    if isinstance(monotone, Mapping):
        return {position(key, names, "monotone"): value for key, value in monotone.items()}
    if isinstance(monotone, str) or not hasattr(monotone, "__len__") or len(monotone) != len(names):
        msg = (
            "monotone must be a dict from column to 'increasing' or 'decreasing', or a list of one direction for each "
            f"of the {len(names)} columns, got {shown(monotone)}."
        )
        raise ValueError(msg)
    return dict(enumerate(monotone))


def _direction(value: Any, name: str) -> int:
    try:
        return DIRECTIONS[value]
    except (KeyError, TypeError):
        msg = f"monotone must be 'increasing' (1), 'decreasing' (-1) or None (0), got {value!r} for column {name!r}."
        raise ValueError(msg) from None
