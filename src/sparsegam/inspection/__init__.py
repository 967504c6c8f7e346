"""Performance, calibration, stability, alternatives, drift and documentation of a fitted model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sparsegam.inspection._assessment import Subgroups, assess, calibration, gains, net_benefit, subgroups
from sparsegam.inspection._drift import Drift, drift
from sparsegam.inspection._model_card import model_card

if TYPE_CHECKING:
    from sparsegam.inspection._alternatives import Alternatives, alternatives
    from sparsegam.inspection._stability import Stability, stability

__all__ = [
    "Alternatives",
    "Drift",
    "Stability",
    "Subgroups",
    "alternatives",
    "assess",
    "calibration",
    "drift",
    "gains",
    "model_card",
    "net_benefit",
    "stability",
    "subgroups",
]


def __getattr__(name: str) -> Any:
    """Import functions that refit models on first access, because they need scikit-learn."""
    if name not in ("Alternatives", "Stability", "alternatives", "stability"):
        msg = f"module 'sparsegam.inspection' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"sparsegam.inspection._{name.lower()}"), name)


def __dir__() -> list[str]:
    return __all__
