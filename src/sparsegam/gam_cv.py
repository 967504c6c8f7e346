"""Additive models that choose their own size: SparseGAMClassifierCV and SparseGAMRegressorCV."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegam._design.constraints import InteractionOptions
from sparsegam._design.ramps import check_shapes
from sparsegam._fit.choosing import ChoosesSize
from sparsegam._fit.multiclass_cv import ChoosesForEach
from sparsegam._fit.outcomes import Classifies, Regresses
from sparsegam._fit.surface import Surface
from sparsegam._search.path import Path
from sparsegam._search.tables import Tables
from sparsegam.gam import SparseGAM
from sparsegam.parameters import documented


@dataclass(kw_only=True, eq=False, repr=False)
class ChoosesShapes(ChoosesSize, SparseGAM):
    """Chooses among several shapes too, where `shapes` is a list of them, and whether to have products."""

    def _shapes(self) -> list[Any]:
        listed = isinstance(self.shapes, list | tuple)
        if listed and not self.shapes:
            msg = "shapes must hold at least one of 'steps', 'ramps' and 'both', got an empty list."
            raise ValueError(msg)
        return list(self.shapes) if listed else [self.shapes]

    def _designs(self) -> list[Tables]:
        inputs = self._inputs()
        for shapes in self._shapes():
            check_shapes(shapes)
        plain = replace(inputs, interactions=InteractionOptions())
        designs = [replace(plain, rules=replace(inputs.rules, shapes=shapes)) for shapes in self._shapes()]
        if not inputs.interactions.is_on:
            return designs
        return designs + [replace(one, interactions=inputs.interactions) for one in designs]

    def _n_plain(self) -> int:
        return len(self._shapes())

    def _keep_choice(self, surface: Surface, ridge: int, size: int, path: Path[Any]) -> None:
        super()._keep_choice(surface, ridge, size, path)
        shapes = self._shapes()
        n_designs = len(self._designs())
        n_ridges, n_sizes = len(surface.ridges) // n_designs, len(surface.n_terms)
        self.shapes_ = shapes[ridge // n_ridges % len(shapes)]
        if len(shapes) > 1:
            told = np.repeat([str(one) for one in shapes], n_ridges * n_sizes)
            self.cv_results_["shapes"] = np.tile(told, n_designs // len(shapes))
        if n_designs > len(shapes):
            self.cv_results_["interactions"] = np.repeat([False, True], len(shapes) * n_ridges * n_sizes)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMClassifierCV(ChoosesForEach, Classifies, ChoosesShapes):
    """Sparse additive classifier of step functions that chooses its number of terms by cross-validation.

    {frontier}
    {gam_classifier_cv}

    Notes
    -----
    {each_class}
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMRegressorCV(Regresses, ChoosesShapes):
    """Sparse additive regression of step functions that chooses its number of terms by cross-validation.

    {frontier}
    {gam_regressor_cv}
    """
