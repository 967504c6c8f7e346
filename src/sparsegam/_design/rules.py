"""Rules that a model must obey: directions, limits, features that must or must not be in it, prices of features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.table import position
from sparsegam._design.binning import check_rows_per_bin
from sparsegam._design.interactions import pair_at
from sparsegam._models.seen import RULES
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, check_number

DIRECTIONS: dict[Any, int] = {"increasing": 1, "decreasing": -1, 1: 1, -1: -1, 0: 0, None: 0}


@dataclass(frozen=True)
class Rules:
    """What the user may demand of a model; wrong values are refused when it is made or meets a table.

    Attributes
    ----------
    monotone : mapping from column to direction, or one direction per column, optional
        "increasing" (or 1), "decreasing" (-1) or None (0): how the score may move as the feature grows.
    max_features, max_terms_per_feature : int, optional
        Largest number of features, and of terms of one feature.
    features_always, features_never : sequence of columns, optional
        Features of which every model has at least one term, and those that no model has; a pair of columns among the
        latter may have no product.
    min_samples_bin : int or "auto"
        A condition must hold for at least so many rows, and fail for as many.
    min_events_bin : int
        And for at least so many rows of either class, both where it holds and where it fails.
    feature_cost : mapping from column to float, optional
        Factor on lambda0 for the terms of a feature; 1 for those not named.
    shapes : {"steps", "ramps", "both"}, or mapping from column to one of them
        Whether numbers are described by steps, by ramps or by both.
    missing : {"mean", "error", "last"}
        How a value is scored that is missing, special or of a new level where no row of the fit had one.
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
        check_rows_per_bin(self.min_samples_bin)
        check_integer("min_events_bin", self.min_events_bin, at_least=0)
        check_choice("missing", self.missing, tuple(RULES))
        for option in ("features_always", "features_never"):
            if isinstance(getattr(self, option), str):
                msg = f"{option} must be a list of columns, got {getattr(self, option)!r}."
                raise ValueError(msg)
        if self.feature_cost is not None and not isinstance(self.feature_cost, Mapping):
            msg = f"feature_cost must be a dict from column to factor, got {self.feature_cost!r}."
            raise ValueError(msg)

    def directions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """1 (increasing), -1 (decreasing) or 0 for each column."""
        out = np.zeros(len(names), dtype=np.int64)
        for j, value in _by_column(self.monotone, names).items():
            out[j] = _direction(value, names[j])
        return out

    def costs(self, names: Sequence[str]) -> FloatArray:
        """Factor on lambda0 for each column."""
        out = np.ones(len(names))
        for key, factor in (self.feature_cost or {}).items():
            check_number(f"feature_cost[{key!r}]", factor, at_least=0.0)
            out[position(key, names, "feature_cost")] = factor
        return out

    def always(self, names: Sequence[str]) -> list[int]:
        """Positions of the features that every model has."""
        found = [position(key, names, "features_always") for key in _listed(self.features_always)]
        both = [names[j] for j in found if j in self.never(names)]
        if both:
            msg = f"{both} are in both features_always and features_never."
            raise ValueError(msg)
        if self.max_features is not None and len(found) > self.max_features:
            msg = f"features_always names {len(found)} features, but max_features is {self.max_features}."
            raise ValueError(msg)
        return sorted(set(found))

    def never(self, names: Sequence[str]) -> list[int]:
        """Positions of the features that no model has."""
        self.never_pairs(names)  # are named rightly, even where there are no products
        asked = _listed(self.features_never)
        return [position(key, names, "features_never") for key in asked if not _is_pair(key, names)]

    def never_pairs(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Positions of pairs of features of which no model has a product."""
        asked = _listed(self.features_never)
        return [pair_at(key, names, "features_never") for key in asked if _is_pair(key, names)]


def _is_pair(key: Any, names: Sequence[str]) -> bool:
    """Tell a pair of columns from one column that goes by a tuple."""
    return isinstance(key, tuple | list) and str(key) not in names


def _listed(columns: Any) -> list[Any]:
    return [] if columns is None else list(columns)


def _by_column(given: Any, names: Sequence[str]) -> dict[int, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {position(key, names, "monotone"): value for key, value in given.items()}
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != len(names):
        msg = (
            f"monotone must be a dict from column to 'increasing' or 'decreasing', or a list with one direction for "
            f"each of the {len(names)} columns, got {given!r}."
        )
        raise ValueError(msg)
    return dict(enumerate(given))


def _direction(value: Any, name: str) -> int:
    try:
        return DIRECTIONS[value]
    except (KeyError, TypeError):
        msg = f"monotone must be 'increasing' (1), 'decreasing' (-1) or None (0), got {value!r} for column {name!r}."
        raise ValueError(msg) from None
