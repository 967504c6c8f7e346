"""Measure how time and memory grow with rows, features, thresholds and terms, on simulated credit tables.

python -m benchmarks.scaling [--parts rows features thresholds terms] [--rows 10000 100000 1000000] [--peers lightgbm]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks import runner
from benchmarks.contenders import Contender, ExplainableBoosting, LightGBM, SparseGAM, SparseGAMPath
from benchmarks.data import Credit
from benchmarks.worker import Job

PEERS: dict[str, Contender] = {"lightgbm": LightGBM(), "interpret": ExplainableBoosting()}
# Rows of the parts that vary something else.
FIXED_ROWS = 100_000
COPIES = (1, 2, 4)
BINS = (50, 200, 800)
TERMS = (10, 20, 40, 80)
# The standardised ridge of all fits.
LAMBDA2 = 1e-3


def in_rows(args: argparse.Namespace, threads: int) -> Iterator[Job]:
    """Increase the number of rows, at lambda0="bic", for sparsegam and the selected peers."""
    for n in args.rows:
        for contender in (SparseGAM(lambda2=LAMBDA2), *(PEERS[name] for name in args.peers)):
            yield Job(f"rows={n}", contender, Credit(n), threads)


def in_features(args: argparse.Namespace, threads: int) -> Iterator[Job]:
    """Increase the number of features by shuffled copies of the table."""
    for copies in COPIES:
        yield Job(f"features={copies}", SparseGAM(lambda2=LAMBDA2), Credit(FIXED_ROWS, copies=copies), threads)


def in_thresholds(args: argparse.Namespace, threads: int) -> Iterator[Job]:
    """Increase the number of bins of the same features, made continuous."""
    for bins in BINS:
        contender = SparseGAM(lambda2=LAMBDA2, options={"max_bins": bins})
        yield Job(f"thresholds={bins}", contender, Credit(FIXED_ROWS, continuous=True), threads)


def in_terms(args: argparse.Namespace, threads: int) -> Iterator[Job]:
    """Increase the largest size of the path."""
    for k in TERMS:
        yield Job(f"terms={k}", SparseGAMPath(lambda2=LAMBDA2, max_terms=k), Credit(FIXED_ROWS), threads)


PARTS: dict[str, Callable[[argparse.Namespace, int], Iterator[Job]]] = {
    "rows": in_rows,
    "features": in_features,
    "thresholds": in_thresholds,
    "terms": in_terms,
}


def growth(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the exponents a of time ~ size^a and memory ~ size^a between neighbouring sizes (1 is linear)."""
    parts = summary["cell"].str.extract(r"^(?P<part>\w+)=(?P<size>\d+)$").astype({"size": float})
    table = pd.concat([parts, summary], axis=1)
    table["size"], by = np.log(table["size"]), ["part", "threads", "contender"]
    table["log_s"], table["log_mb"] = np.log(table["seconds"]), np.log(table["peak_mb"].clip(lower=0.1))
    steps = table.groupby(by, sort=False)[["size", "log_s", "log_mb"]].diff()
    table["time_exponent"] = steps["log_s"] / steps["size"]
    table["memory_exponent"] = steps["log_mb"] / steps["size"]
    return table.loc[steps["size"].notna(), ["cell", "threads", "contender", "time_exponent", "memory_exponent"]]


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=[], help="peers of the part `rows`")
    runner.add_options(parser)
    return parser.parse_args()


def main() -> None:
    """Run the fits, print the results and write results/scaling*.csv."""
    args = options()
    jobs = [job for part in args.parts for threads in args.threads for job in PARTS[part](args, threads)]
    summary = runner.report("scaling", runner.run(jobs, args))
    table = growth(summary)
    print("\ngrowth exponents relative to the previous size:\n" + table.round(2).to_string(index=False))
    runner.save("scaling-growth.csv", table)


if __name__ == "__main__":
    main()
