"""The functions of fastsparsegams 0.2.0: `from sparsegam.compat import fastsparsegams`."""

from sparsegam.compat.fastsparsegams import interface, models
from sparsegam.compat.fastsparsegams.interface import cvfit, fit
from sparsegam.compat.fastsparsegams.version import version as __version__

__all__ = ["__version__", "cvfit", "fit", "interface", "models"]
