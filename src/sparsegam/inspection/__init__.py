"""Performance, calibration, stability, alternatives, drift and documentation of a fitted model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsegam.inspection._alternatives import alternatives
    from sparsegam.inspection._assessment import Subgroups, assess, calibration, gains, net_benefit, subgroups
    from sparsegam.inspection._drift import Drift, drift
    from sparsegam.inspection._model_card import model_card
    from sparsegam.inspection._stability import Stability, stability

__all__ = [
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

_MODULES = {
    "Drift": "_drift",
    "Stability": "_stability",
    "Subgroups": "_assessment",
    "alternatives": "_alternatives",
    "assess": "_assessment",
    "calibration": "_assessment",
    "drift": "_drift",
    "gains": "_assessment",
    "model_card": "_model_card",
    "net_benefit": "_assessment",
    "stability": "_stability",
    "subgroups": "_assessment",
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name on first access, because `stability` needs scikit-learn."""
    if name not in _MODULES:
        msg = f"module 'sparsegam.inspection' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"sparsegam.inspection.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
