"""Samples of the rows beside new rows: which way of drawing says best what would come back.

python -m benchmarks.stability [--rows 1000 4000 16000] [--samples 30]

Models are fitted to new tables of the same simulation, as large as the first: how often its steps come
back there is what samples of its own rows should say.
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


def anew(gam: SparseGAMClassifier, rows: int, samples: int) -> Stability:
    """Look up the steps of a fitted model in models of new rows."""
    tables = [make_credit(rows, seed=seed) for seed in range(1, samples + 1)]
    models = [SparseGAMClassifier().fit(table.frame, table.target).model_ for table in tables]
    return selection_frequencies(gam.model_, models, read_table(make_credit(rows).frame), "new", 0.02)


def line(rows: int, found: Stability, true: Stability) -> dict[str, object]:
    """Return sizes, and how far the shares are from those of new rows."""
    steps = np.array([[one.share, other.share] for one, other in zip(found.terms, true.terms, strict=True)])
    features = np.array([[found.features[name], true.features[name]] for name in found.model_features])
    return {
        "rows": rows,
        "drawn": found.method,
        "terms": f"{np.mean(found.n_terms):.1f}",
        "steps back": f"{steps[:, 0].mean():.2f}",
        "off by": f"{np.abs(steps[:, 0] - steps[:, 1]).mean():.2f}",
        "features back": f"{features[:, 0].mean():.2f}",
        "by": f"{np.abs(features[:, 0] - features[:, 1]).mean():.2f}",
    }


def main() -> None:
    """Print a line for each number of rows and way of drawing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000, 16000])
    parser.add_argument("--samples", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for rows in options.rows:
        credit = make_credit(rows)
        gam = SparseGAMClassifier(n_jobs=-1).fit(credit.frame, credit.target)
        true = anew(gam, rows, options.samples)
        lines.append(line(rows, true, true))
        for method in METHODS:
            found = gam.stability(credit.frame, credit.target, n=options.samples, method=method)
            lines.append(line(rows, found, true))
    table = pd.DataFrame(lines)
    print(table.to_string(index=False))
    runner.save("stability.csv", table)


if __name__ == "__main__":
    main()
