"""Exports: a model, a scorecard or a fitted estimator written so that it runs elsewhere.

Each function takes any of the three; the parity test holds all of them against `decision_function`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsegam.export.excel import to_excel
    from sparsegam.export.javascript import to_javascript
    from sparsegam.export.latex import to_latex
    from sparsegam.export.onnx import to_onnx
    from sparsegam.export.pmml import to_pmml
    from sparsegam.export.python import to_python
    from sparsegam.export.sql import to_sql

__all__ = ["to_excel", "to_javascript", "to_latex", "to_onnx", "to_pmml", "to_python", "to_sql"]


def __getattr__(name: str) -> Any:
    """Load an export when it is first asked for: some need packages that others do not."""
    if name not in __all__:
        msg = f"module 'sparsegam.export' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"sparsegam.export.{name.removeprefix('to_')}"), name)
