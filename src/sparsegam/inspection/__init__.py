"""Performance, calibration, stability, alternatives, drift and documentation of a fitted model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsegam.inspection._alternatives import alternatives
    from sparsegam.inspection._assessment import assess, calibration
    from sparsegam.inspection._drift import Drift, drift
    from sparsegam.inspection._gains import gains, net_benefit
    from sparsegam.inspection._model_card import model_card
    from sparsegam.inspection._stability import Stability, stability
    from sparsegam.inspection._subgroups import Subgroups, subgroups

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
    "Subgroups": "_subgroups",
    "alternatives": "_alternatives",
    "assess": "_assessment",
    "calibration": "_assessment",
    "drift": "_drift",
    "gains": "_gains",
    "model_card": "_model_card",
    "net_benefit": "_gains",
    "stability": "_stability",
    "subgroups": "_subgroups",
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name on first access, because `stability` needs scikit-learn."""
    if name not in _MODULES:
        msg = f"module 'sparsegam.inspection' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"sparsegam.inspection.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
