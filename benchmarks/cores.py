"""Time complete fits with an increasing number of threads: reading, binning, encoding, searching and term statistics.

python -m benchmarks.cores [--rows 1000000] [--threads 1 2 4 8 16] [--rounds 2]

Each round runs all numbers of threads in turn, and the best round of each is reported. All models must be identical.
"""

from __future__ import annotations

import argparse
import time

import pandas as pd

from benchmarks.streams import Phases

SETTINGS = {"lambda0": "bic", "special_values": [-9, -8, -7]}


def main() -> None:
    """Run the fits and print their times."""
    from sparsegam import SparseGAMClassifier
    from sparsegam._backends import local
    from sparsegam._fit import training
    from sparsegam._search import solver, table_problem
    from sparsegam.datasets import make_credit

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    credit = make_credit(args.rows)
    best: dict[int, dict] = {}
    models = set()
    watched = (
        (local, "bin_table", "bins"),
        (training, "build_table_problem", "build"),
        (solver, "_search_at", "search"),
        (table_problem.TableProblem, "model", "model"),
    )
    functions = [getattr(owner, name) for owner, name, _ in watched]
    for _ in range(args.rounds):
        for threads in args.threads:
            phases = Phases()
            for owner, name, phase in watched:
                phases.watch(owner, name, phase)
            start = time.perf_counter()
            gam = SparseGAMClassifier(n_jobs=threads, **SETTINGS).fit(credit.frame, credit.target)
            seconds = time.perf_counter() - start
            for (owner, name, _), function in zip(watched, functions, strict=True):
                setattr(owner, name, function)
            models.add(gam.model_.to_json())
            if threads not in best or seconds < best[threads]["seconds"]:
                best[threads] = {"threads": threads, "seconds": seconds, **phases.seconds}
    table = pd.DataFrame(best.values())
    table["speedup"] = table["seconds"].iloc[0] / table["seconds"]
    print(f"{args.rows} rows, {gam.n_terms_} terms, identical models: {len(models) == 1}")
    print(table.to_string(index=False, float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
