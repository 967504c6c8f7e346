"""Compare selection frequencies on samples of the training rows with those on independent tables.

python -m benchmarks.stability [--rows 1000 4000 16000] [--samples 30]

Models are fitted to further tables of the same simulation, each as large as the first. The selection frequencies of the
steps of the first model in these models are the reference for those on samples of its own training rows.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from benchmarks import runner
from sparsegam import SparseGAMClassifier
from sparsegam._data.table import read_table
from sparsegam.datasets import make_credit
from sparsegam.inspection._stability import METHODS, Stability, selection_frequencies


def on_independent_tables(gam: SparseGAMClassifier, rows: int, samples: int) -> Stability:
    """Return the selection frequencies of a model's steps on independent tables."""
    tables = [make_credit(rows, seed=seed) for seed in range(1, samples + 1)]
    models = [SparseGAMClassifier().fit(table.frame, table.target).model_ for table in tables]
    return selection_frequencies(gam.model_, models, read_table(make_credit(rows).frame), "independent", 0.02)


def row(rows: int, found: Stability, reference: Stability) -> dict[str, object]:
    """Return mean size and frequencies, and the mean absolute difference from those on independent tables."""
    steps = np.array([[one.share, other.share] for one, other in zip(found.terms, reference.terms, strict=True)])
    features = np.array([[found.features[name], reference.features[name]] for name in found.model_features])
    return {
        "rows": rows,
        "samples": found.method,
        "terms": f"{np.mean(found.n_terms):.1f}",
        "step frequency": f"{steps[:, 0].mean():.2f}",
        "step error": f"{np.abs(steps[:, 0] - steps[:, 1]).mean():.2f}",
        "feature frequency": f"{features[:, 0].mean():.2f}",
        "feature error": f"{np.abs(features[:, 0] - features[:, 1]).mean():.2f}",
    }


def main() -> None:
    """Print a line for each number of rows and sampling method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000, 16000])
    parser.add_argument("--samples", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for rows in options.rows:
        credit = make_credit(rows)
        gam = SparseGAMClassifier(n_jobs=-1).fit(credit.frame, credit.target)
        reference = on_independent_tables(gam, rows, options.samples)
        lines.append(row(rows, reference, reference))
        for method in METHODS:
            found = gam.stability(credit.frame, credit.target, n=options.samples, method=method)
            lines.append(row(rows, found, reference))
    table = pd.DataFrame(lines)
    print(table.to_string(index=False))
    runner.save("stability.csv", table)


if __name__ == "__main__":
    main()
