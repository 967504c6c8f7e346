"""A problem: a design with labels, weights and a loss, posed to the core."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.data.frames import Table
from sparsegam.design.binning import Binning, bin_table
from sparsegam.design.rules import Rules
from sparsegam.design.threshold import Design
from sparsegam.search.blas import one_blas_thread
from sparsegam.search.options import DEFAULT_MAX_TERMS, Options


@dataclass(frozen=True)
class Problem:
    """A design with labels, weights and a loss, ready to be searched."""

    design: Design
    rows: _core.Rows
    penalty: _core.Penalty
    options: Options
    total_weight: float
    n_candidates: int
    cost: NDArray[np.float64] | None = None  # factor on lambda0 by column, where they are not all one
    mean_weight: float = 1.0

    @property
    def max_terms(self) -> int:
        """Largest size to search: what was asked for, but no more terms than candidates."""
        asked = DEFAULT_MAX_TERMS if self.options.max_terms is None else int(self.options.max_terms)
        return min(asked, self.n_candidates)


def pose(
    table: Table,
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    options: Options,
    binning: Binning,
    rules: Rules,
) -> Problem:
    """Bin the table and hand it to the core; rows without weight are left out, as if they were absent."""
    kept = weight > 0
    if not kept.all():
        table, y, weight = table.keep(kept), y[kept], weight[kept]
    design = Design(*bin_table(table, binning, weight), weight)
    rows = _core.Rows(design.core, y, weight, loss=options.loss, n_threads=options.n_threads)
    allowed = design.candidates(rules)
    always = _always(design, rows, options, rules, allowed)
    penalty = design.penalty(float(options.lambda2), rules, allowed=allowed, always=always)
    cost = rules.costs(design.names)[design.group] if rules.feature_cost else None
    total, n_candidates = float(weight.sum()), int(np.count_nonzero(allowed))
    return Problem(design, rows, penalty, options, total, n_candidates, cost, total / weight.size)


def replace_options(problem: Problem, **changes: Any) -> Problem:
    """Return the same problem with other options for its search."""
    return replace(problem, options=replace(problem.options, **changes))


def _always(
    design: Design, rows: _core.Rows, options: Options, rules: Rules, allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Choose a column for each feature that must be in: the one that, alone, lowers the loss most."""
    chosen = []
    for j in rules.always(design.names):
        mine = allowed & (design.group == j)
        if not mine.any():
            msg = f"features_always names {design.names[j]!r}, of which no term can be made: it does not vary enough."
            raise ValueError(msg)
        penalty = design.penalty(float(options.lambda2), rules, allowed=mine)
        with one_blas_thread():
            point = _core.frontier(rows, penalty, max_terms=1).points[-1]
        if len(point.columns) == 0:
            msg = f"no term of {design.names[j]!r} (in features_always) lowers the loss, as the rules are."
            raise ValueError(msg)
        chosen.append(int(point.columns[0]))
    return np.array(chosen, dtype=np.int64)
