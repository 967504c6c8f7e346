"""Compare sparsegam on the raw FICO table with fastsparsegams on its 0/1 matrix, on one training fold.

python -m benchmarks.fico [--data PATH] [--rounds 3] [--threads 1 2] [--parts cells frontier] [--abess]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pandas as pd

from benchmarks import runner
from benchmarks.contenders import SPARSEGAM, AbessPath, FastSparseGAMs, FastSparseGAMsPath, SparseGAM, SparseGAMPath
from benchmarks.data import FicoFold, fico_path
from benchmarks.objective import frontier
from benchmarks.worker import Job

LOSSES = ("logistic", "exponential")
LAMBDA0 = (7.0, 5.0, 3.0, 2.0)
MAX_TERMS = 50
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50)
# The lowest objectives without ridge known for these cells. A fit should be at most 1.0 above them.
LOWEST = {
    "logistic": (4657.4, 4617.7, 4558.1, 4509.1),
    "exponential": (7148.5, 7097.0, 7040.6, 6959.9),
}


def cell_name(loss: str, lambda0: float) -> str:
    """Return the name of a single fit in the tables."""
    return f"{loss} lambda0={lambda0:g}"


def frontier_name(loss: str) -> str:
    """Return the name of a path in the tables."""
    return f"{loss} to {MAX_TERMS} terms"


def cells(source: FicoFold, threads: int) -> Iterator[Job]:
    """Yield the eight single fits of sparsegam and fastsparsegams."""
    for loss in LOSSES:
        for lambda0 in LAMBDA0:
            for contender in (SparseGAM(loss=loss, lambda0=lambda0), FastSparseGAMs(loss=loss, lambda0=lambda0)):
                yield Job(cell_name(loss, lambda0), contender, source, threads)


def frontiers(source: FicoFold, threads: int, *, abess: bool) -> Iterator[Job]:
    """Yield the paths to 50 terms."""
    for loss in LOSSES:
        contenders = [SparseGAMPath(loss=loss, max_terms=MAX_TERMS), FastSparseGAMsPath(loss=loss, max_terms=MAX_TERMS)]
        if abess and loss == "logistic":
            contenders.append(AbessPath(max_terms=MAX_TERMS))
        for contender in contenders:
            yield Job(frontier_name(loss), contender, source, threads)


def excess_objectives(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the objectives of sparsegam next to the lowest known ones."""
    lowest = {cell_name(loss, l0): t for loss, ts in LOWEST.items() for l0, t in zip(LAMBDA0, ts, strict=True)}
    table = summary.loc[
        (summary["contender"] == SPARSEGAM) & summary["cell"].isin(lowest), ["cell", "threads", "objective"]
    ]
    table = table.assign(lowest=table["cell"].map(lowest))
    return table.assign(above=table["objective"] - table["lowest"])


def frontier_table(measurements: pd.DataFrame) -> pd.DataFrame:
    """Return the lowest loss with at most k terms, a column per contender and loss (last round, fewest threads)."""
    names = [frontier_name(loss) for loss in LOSSES]
    done = runner.measured(measurements)
    done = done[done["cell"].isin(names)]
    done = done[done["threads"] == done["threads"].min()].drop_duplicates(["cell", "contender"], keep="last")
    columns = {f"{row.cell.split()[0]}, {row.contender}": frontier(row.models, SIZES) for row in done.itertuples()}
    return pd.DataFrame(columns, index=pd.Index(SIZES, name="k"))


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="fico.csv.gz or its folder (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--parts", nargs="+", choices=("cells", "frontier"), default=["cells", "frontier"])
    parser.add_argument("--abess", action="store_true", help="also run abess, along the logistic path")
    runner.add_options(parser)
    return parser.parse_args()


def main() -> None:
    """Run the fits, print the results and write results/fico*.csv."""
    args = options()
    source = FicoFold(fico_path(args.data))
    jobs: list[Job] = []
    for threads in args.threads:
        jobs += cells(source, threads) if "cells" in args.parts else []
        jobs += frontiers(source, threads, abess=args.abess) if "frontier" in args.parts else []
    measurements = runner.run(jobs, args)
    summary = runner.report("fico", measurements)
    excess = excess_objectives(summary)
    if not excess.empty:
        print("\nobjectives relative to the lowest known ones:\n" + excess.round(2).to_string(index=False))
    table = frontier_table(measurements)
    if not table.empty:
        print("\nlowest loss with at most k terms:\n" + table.round(1).to_string())
        runner.save("fico-frontier.csv", table.reset_index())


if __name__ == "__main__":
    main()
