"""Run cells in a process: read them from standard input, write results to standard output, as JSON lines."""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

from benchmarks.paper.cells import Cell


def solve(cell: Cell, data: str | None) -> list[dict[str, Any]]:
    """Run one cell; return a row of results for each model found."""
    from benchmarks.paper.methods import method_named
    from benchmarks.paper.solution import assess
    from benchmarks.paper.tables import load

    fold = load(cell.table, cell.fold, data)
    _ = fold.matrix, fold.test_matrix, fold.centred_sq_norm
    return [assess(solution, fold) for solution in method_named(cell.method)(fold, cell)]


def warm_up() -> None:
    """Fit small data, so that no cell includes the import of sparsegam; peers are imported before timing."""
    from sparsegam import SparseGAMClassifier
    from sparsegam.path import swap_path

    x, y = [[i] for i in range(40)], [int(i > 20) for i in range(40)]
    SparseGAMClassifier(lambda2=0.01).fit(x, y)
    swap_path(x, y, lambda2=0.01)


def main() -> None:
    """Reply to each line with one line. Standard output is duplicated, as libraries may print to the original."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    warm_up()
    for line in sys.stdin:
        task = json.loads(line)
        try:
            reply = {"rows": solve(Cell(**task["cell"]), task["data"])}
        # A failure of a peer is a result.
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main()
