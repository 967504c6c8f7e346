"""Compare fractions of the BIC penalty per term on large simulated tables, with the default ridge.

python -m benchmarks.defaults_large [--rows 5000 25000 100000] [--seeds 2]

The tables are simulated credit applications, whose true model consists of steps, and tables with six smooth effects and
nine columns of noise. The output shows log loss and AUC on 30,000 test rows and the number of terms for each fraction
of the penalty "bic".
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.newrows_data import SPECIAL
from sparsegam import SparseGAMClassifier
from sparsegam.datasets import make_credit

FRACTIONS = (0.4, 0.5, 0.6, 0.8, 1.0)
N_TEST = 30_000


def steps(n_rows: int, seed: int) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Simulate credit applications."""
    rows = make_credit(n_rows, seed=seed)
    return rows.frame, np.asarray(rows.target, dtype=np.int64)


def smooth(n_rows: int, seed: int) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Simulate six smooth effects, two of them weak, and nine columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 15))
    odds = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 - 0.5 * X[:, 2] + 0.8 * np.tanh(X[:, 3]) + X[:, 4:6] @ [0.2, 0.1]
    return pd.DataFrame(X).add_prefix("x"), (rng.random(n_rows) < 1 / (1 + np.exp(0.5 - odds))).astype(np.int64)


def main() -> None:
    """Fit with each fraction and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 25_000, 100_000])
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    for n_rows in args.rows:
        for name, simulate, options in (("steps", steps, SPECIAL), ("smooth", smooth, {"special_values": []})):
            for seed in range(1, args.seeds + 1):
                frame, y = simulate(n_rows + N_TEST, seed)
                train, test = slice(None, n_rows), slice(n_rows, None)
                for fraction in FRACTIONS:
                    gam = SparseGAMClassifier(lambda0=fraction * np.log(n_rows) / 2, **options)
                    probability = gam.fit(frame.iloc[train], y[train]).predict_proba(frame.iloc[test])[:, 1]
                    loss, auc = log_loss(y[test], probability), roc_auc_score(y[test], probability)
                    result = f"loss {loss:.4f}, AUC {auc:.4f}, {gam.n_terms_} terms"
                    print(f"{n_rows} rows, {name}, seed {seed}, {fraction:g} of bic: {result}", flush=True)


if __name__ == "__main__":
    main()
