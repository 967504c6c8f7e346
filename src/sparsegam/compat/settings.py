"""Validate the arguments of fastsparsegams and L0Learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam.arrays import FloatArray
from sparsegam.checks import check_boolean, check_choice, check_integer, check_number, shown, warn
from sparsegam.losses import LOSSES

# Regression comes first, as in fastsparsegams.
LOSS = {loss.l0learn_name: loss.name for loss in sorted(LOSSES.values(), key=lambda loss: loss.is_classifier)}
SUPPORTED_LOSS = tuple(LOSS)
CLASSIFICATION_LOSS = SUPPORTED_LOSS[1:]
SUPPORTED_PENALTY = ("L0", "L0L1", "L0L2")
SUPPORTED_ALGORITHM = ("CD", "CDPSI")
ALGORITHMS = (*SUPPORTED_ALGORITHM, "exchange")
SMALL_RIDGE = 1e-7  # ridge of classifiers without another penalty, so that separable classes have a finite optimum


@dataclass(frozen=True)
class Settings:
    """The arguments of `fit` with the names of fastsparsegams, validated when constructed.

    `partial_sort`, `max_iter`, `rtol`, `atol`, `active_set`, `active_set_num` and `screen_size` control coordinate
    descent in the original packages. They are validated but have no effect, because every model is refitted to its
    optimum. With `strict=False`, as for L0Learn, grid values may be repeated or zero.
    """

    loss: str = "SquaredError"
    penalty: str = "L0"
    algorithm: str = "CD"
    max_support_size: int = 100
    num_lambda: int | None = 100
    num_gamma: int | None = 1
    gamma_max: float = 10.0
    gamma_min: float = 0.0001
    partial_sort: bool = True
    max_iter: int = 200
    rtol: float = 1e-6
    atol: float = 1e-9
    active_set: bool = True
    active_set_num: int = 3
    max_swaps: int = 100
    scale_down_factor: float = 0.8
    screen_size: int = 1000
    lambda_grid: Sequence[Sequence[float]] | None = None
    exclude_first_k: int = 0
    intercept: bool = True
    lows: Any = -np.inf
    highs: Any = np.inf
    strict: bool = True

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, SUPPORTED_LOSS)
        check_choice("penalty", self.penalty, SUPPORTED_PENALTY)
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        for name in ("max_support_size", "max_iter", "active_set_num", "max_swaps", "screen_size"):
            check_integer(name, getattr(self, name), at_least=1)
        for name in ("partial_sort", "active_set", "intercept"):
            check_boolean(name, getattr(self, name))
        check_integer("exclude_first_k", self.exclude_first_k, at_least=0)
        check_number("atol", self.atol, at_least=0.0)
        _check_between("rtol", self.rtol, closed=True)
        _check_between("scale_down_factor", self.scale_down_factor, closed=False)
        if self.loss == "Exponential" and self.penalty != "L0":
            msg = f"loss='Exponential' supports penalty='L0' only, got penalty={self.penalty!r}."
            raise ValueError(msg)
        self._check_gammas()
        self._check_grid()

    @property
    def name(self) -> str:
        """The name of the loss in this package."""
        return LOSS[self.loss]

    @property
    def is_classification(self) -> bool:
        """Whether y has two classes."""
        return self.loss in CLASSIFICATION_LOSS

    @property
    def penalty_in_use(self) -> str:
        """The penalty of the models: classification with "L0" also has a small L2 penalty."""
        return "L0L2" if self.is_classification and self.penalty == "L0" else self.penalty

    @property
    def n_gammas(self) -> int:
        """Number of values of gamma."""
        return len(self.lambda_grid) if self.lambda_grid is not None else int(self.num_gamma or 1)

    def gammas(self, steepest: float) -> list[float]:
        """Return the values of gamma, the largest first; for L0L1 they are relative to the steepest slope."""
        if self.penalty_in_use == "L0":
            return [0.0]
        if self.penalty == "L0":
            return [0.0 if self.loss == "Exponential" else SMALL_RIDGE] * self.n_gammas
        if self.n_gammas == 1:
            return [float(self.gamma_max)]
        most, least = float(self.gamma_max), float(self.gamma_min)
        if self.penalty == "L0L1":
            most, least = steepest, steepest * least
        spaced: list[float] = np.geomspace(most, least, self.n_gammas).tolist() if most > 0 else [0.0] * self.n_gammas
        return spaced

    def bounds(self, n_columns: int) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper bound of each coefficient."""
        low, high = _bound("lows", self.lows, n_columns), _bound("highs", self.highs, n_columns)
        for name, wrong, side in (("lows", low > 0, "<= 0"), ("highs", high < 0, ">= 0")):
            if wrong.any():
                j = int(np.argmax(wrong))
                msg = f"{name} must be {side}, so that 0 is allowed, got {(low, high)[name == 'highs'][j]:g} "
                raise ValueError(msg + f"for column {j}.")
        if (low >= high).any():
            j = int(np.argmax(low >= high))
            msg = f"highs must be above lows, got {low[j]:g} and {high[j]:g} for column {j}."
            raise ValueError(msg)
        return low, high

    def _check_gammas(self) -> None:
        check_number("gamma_max", self.gamma_max, at_least=0.0)
        check_number("gamma_min", self.gamma_min, at_least=0.0)
        if self.gamma_min > self.gamma_max:
            msg = f"gamma_min must not be above gamma_max ({self.gamma_max:g}), got {self.gamma_min:g}."
            raise ValueError(msg)
        if self.penalty != "L0" and self.n_gammas > 1 and not self.gamma_min > 0:
            msg = f"gamma_min must be above 0 if there are several gammas, got {self.gamma_min!r}."
            raise ValueError(msg)
        if not self.is_classification and self.penalty != "L0" and self.num_gamma == 1:
            kind = self.penalty[2:]
            warn(f"num_gamma is 1 with penalty={self.penalty!r}: only one value of {kind} will be fitted.", UserWarning)

    def _check_grid(self) -> None:
        if self.lambda_grid is None:
            for name in ("num_lambda", "num_gamma"):
                check_integer(name, getattr(self, name), at_least=1)
            if self.penalty_in_use == "L0" and self.num_gamma != 1:
                msg = f"num_gamma must be 1 with penalty='L0', which has no gamma, got {self.num_gamma!r}."
                raise ValueError(msg)
            return
        for name in ("num_lambda", "num_gamma"):
            if getattr(self, name) is not None:
                msg = f"{name} must be None if lambda_grid is given, got {getattr(self, name)!r}."
                raise ValueError(msg)
        if len(self.lambda_grid) == 0 or (self.penalty == "L0" and len(self.lambda_grid) != 1):
            wanted = "one list with penalty='L0', or one or more lists otherwise"
            msg = f"lambda_grid must contain {wanted}, got {shown(self.lambda_grid)}."
            raise ValueError(msg)
        for i, values in enumerate(self.lambda_grid):
            self._check_values(i, np.asarray(values, dtype=np.float64))

    def _check_values(self, i: int, values: FloatArray) -> None:
        wanted = "decreasing positive numbers" if self.strict else "non-increasing numbers >= 0"
        steps = np.diff(values) if values.ndim == 1 else np.zeros(0)
        falls = (steps < 0).all() if self.strict else (steps <= 0).all()
        ends = values.ndim == 1 and values.size > 0 and np.isfinite(values).all() and values[-1] >= 0
        if not (ends and falls and (values[-1] > 0 or not self.strict)):
            msg = f"lambda_grid[{i}] must be a list of {wanted}, got {shown(np.ravel(values).tolist())}."
            raise ValueError(msg)


def _check_between(name: str, value: Any, *, closed: bool) -> None:
    check_number(name, value, at_least=0.0)
    if not value < 1 or (value == 0 and not closed):
        msg = f"{name} must be below 1 and {'at least' if closed else 'above'} 0, got {value!r}."
        raise ValueError(msg)


def _bound(name: str, value: Any, n_columns: int) -> FloatArray:
    try:
        out: FloatArray = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (n_columns,)))
    except (TypeError, ValueError):
        out = np.full(n_columns, np.nan)
    if np.isnan(out).any():
        msg = f"{name} must be a number or an array with one value per column ({n_columns}), got {shown(value)}."
        raise ValueError(msg)
    return out
