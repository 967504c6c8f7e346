"""Compare ridges and penalties per term on held-out rows: the study behind the defaults of additive regression.

python -m benchmarks.defaults_regression [--data FOLDER] [--folds 2] [--tables Wage ames ...]

The penalty of a regression is in units of the noise variance that its own model leaves, so each combination of penalty
and ridge is fitted separately. The output shows its R2 minus that of the former default ("bic" with lambda2=0.001), and
the number of terms. Simulated tables with normal noise, with heavy-tailed noise and of pure noise are included.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from tqdm import tqdm

from benchmarks.data import data_directory
from benchmarks.newrows_data import Rows, folds, tables

RESULTS = Path(__file__).parent / "results"
FORMER = "bic, ridge 0.001, standardised"
SETTINGS: dict[str, dict[str, Any]] = {
    FORMER: {"lambda0": "bic", "lambda2": 1e-3},
    **{
        f"{penalty}, ridge {amount:g}, steps": {"lambda0": penalty, "lambda2": amount, "standardize": False}
        for penalty in ("auto", "bic")
        for amount in (1.0, 3.0, 10.0, 30.0)
    },
    **{f"{penalty}, ridge auto": {"lambda0": penalty, "lambda2": "auto"} for penalty in ("auto", "bic")},
}


def simulated() -> Iterator[tuple[str, Rows]]:
    """Simulate two steps and a ramp among noise columns, with normal and heavy-tailed noise; and pure noise."""
    for n, p in ((600, 20), (2000, 50), (6000, 100)):
        rng = np.random.default_rng(p)
        X = rng.normal(size=(n, p)).round(2)
        signal = (X[:, 0] > 0) + 0.5 * np.clip(X[:, 1], -1, 1) + 0.7 * (X[:, 2] > 1)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
        yield f"steps-{n}x{p}", Rows(frame, signal + rng.normal(size=n), binary=False)
        yield f"heavy-{n}x{p}", Rows(frame, signal + rng.standard_t(2.5, size=n), binary=False)
        yield f"noise-{n}x{p}", Rows(frame, rng.normal(size=n), binary=False)


def study(chosen: dict[str, tuple[Rows, dict[str, Any]]], n_folds: int) -> pd.DataFrame:
    """Return R2 on the test rows and the number of terms of each setting, by table and fold."""
    from sparsegam import SparseGAMRegressor

    found = []
    for name, (rows, options) in tqdm(chosen.items(), unit="table"):
        for number, fold in enumerate(folds(rows, n_folds, "none")):
            for setting, parameters in SETTINGS.items():
                with warnings.catch_warnings():
                    # Warnings about steps on few rows and about special codes do not matter here.
                    warnings.simplefilter("ignore")
                    gam = SparseGAMRegressor(**parameters, **options).fit(fold.train.frame, fold.train.y)
                    score = r2_score(fold.test.y, gam.predict(fold.test.frame))
                found.append({"table": name, "fold": number, "setting": setting, "r2": score, "k": gam.n_terms_})
    return pd.DataFrame(found)


def main() -> None:
    """Run the study and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="folder with the public tables")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--tables", nargs="*", help="tables with a numeric outcome (default: all)")
    args = parser.parse_args()
    known = {name: (table.load(), dict(table.options)) for name, table in tables(args.data or data_directory()).items()}
    chosen = {name: one for name, one in known.items() if not one[0].binary and name in (args.tables or known)}
    chosen |= {name: (rows, {}) for name, rows in simulated()}
    found = study(chosen, args.folds)
    found.to_csv(RESULTS / "defaults-regression.csv", index=False)
    mean = found.groupby(["setting", "table"], sort=False)[["r2", "k"]].mean()
    table = mean["r2"].unstack("table")
    print((table - table.loc[FORMER]).round(4).T.to_string())
    print(mean["k"].unstack("table").round(0).T.to_string())


if __name__ == "__main__":
    main()
