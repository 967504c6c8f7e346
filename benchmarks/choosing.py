"""What the choice of ridge and size by folds rests on: folds drawn anew or not, scores averaged with their neighbours.

python -m benchmarks.choosing [--data FOLDER] [--tables NAME ...] [--seed 1] [--max-terms 50] [--repeats 4]

For each table and fold all ridges and sizes are scored once, with all repeats; each way of choosing then picks from the
same scores, and what it picks is tested on the other rows. The folds of seed 0 are those of `newrows`. Printed are AUC
and log loss (R2 and the root of the mean squared error) and the terms; at the end, what each way gains over the first.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss, r2_score, roc_auc_score, root_mean_squared_error
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from benchmarks.data import data_directory
from benchmarks.newrows_data import Fold, Rows, folds, tables
from sparsegam import SparseGAMClassifierCV, SparseGAMRegressorCV, gam_path
from sparsegam._fit.cross_validation import CVScores
from sparsegam._search.ridge import ridge_of

N_FOLDS = 5
WAYS = {  # the repeats that count (0 is all), the rule
    "once, best": (1, "best"),
    "again, best": (0, "best"),
    "once, steady": (1, "steady"),
    "again, steady": (0, "steady"),
}
SMALL = [
    *("german", "attrition", "OJ", "HMDA", "PSID1976", "Chile", "TitanicSurvival", "credit-500", "ResumeNames"),
    *("credit_data", "mlc_churn", "credit-5000", "Arrests", "Caravan", "stackoverflow", "compas", "wa_churn"),
    *("HealthInsurance", "taxi", "Default", "flchain"),
]


def scored(fold: Fold, options: Mapping[str, Any], max_terms: int, repeats: int | str) -> CVScores:
    """Return the scores of all ridges and sizes on all folds within the training rows."""
    kind = SparseGAMClassifierCV if fold.train.binary else SparseGAMRegressorCV
    gam = kind(max_terms=max_terms, n_repeats=repeats, **options).fit(fold.train.frame, fold.train.y)
    found = gam.cv_results_
    lambda2, sizes = np.unique(found["lambda2"]), np.unique(found["n_terms"])
    splits = [name for name in found if name.startswith("split")]
    scores = np.stack([found[f"split{i}_test_score"] for i in range(len(splits))], axis=-1)
    ridges = tuple(ridge_of(value, "logistic", standardize=False) for value in lambda2)
    return CVScores(ridges, lambda2, sizes, scores.reshape(len(lambda2), len(sizes), -1), N_FOLDS)


def tester(fold: Fold, options: Mapping[str, Any], max_terms: int) -> Callable[[float, int], tuple[float, float]]:
    """Return what tests the model of a ridge and a size; each ridge's frontier is searched once."""
    paths: dict[float, Any] = {}
    loss = "logistic" if fold.train.binary else "squared"

    def test(lambda2: float, size: int) -> tuple[float, float]:
        if lambda2 not in paths:
            given = {"max_terms": max_terms, "lambda2": lambda2, "standardize": False, "loss": loss}
            paths[lambda2] = gam_path(fold.train.frame, fold.train.y, **given, **options)
        model = paths[lambda2].at(n_terms=min(size, int(paths[lambda2].n_terms[-1])))
        return _tested(model, fold.test)

    return test


def _tested(model: Any, test: Rows) -> tuple[float, float]:
    if test.binary:
        probability: NDArray[Any] = model.predict_proba(test.frame)[:, 1]
        return roc_auc_score(test.y, probability), log_loss(test.y, probability)
    predicted = model.predict(test.frame)
    return r2_score(test.y, predicted), root_mean_squared_error(test.y, predicted)


def compared(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Choose in every way, on every fold of every table."""
    known = tables(args.data or data_directory())
    for name in tqdm(args.tables, unit="table"):
        options = known[name].options
        for number, fold in enumerate(folds(known[name].load(), 2, "none", seed=args.seed)):
            surface, test = scored(fold, options, args.max_terms, args.repeats), tester(fold, options, args.max_terms)
            for way, (n_repeats, rule) in WAYS.items():
                counted = surface.scores[:, :, : n_repeats * N_FOLDS or None]
                part = CVScores(surface.ridges, surface.lambda2, surface.n_terms, counted, N_FOLDS)
                ridge, size = part.choose(rule)
                score, loss = test(float(surface.lambda2[ridge]), int(surface.n_terms[size]))
                cell = {"table": name, "fold": number, "way": way, "n_terms": surface.n_terms[size]}
                yield cell | {"score": score, "loss": loss}


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="folder of the public tables")
    parser.add_argument("--tables", nargs="+", default=SMALL, metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-terms", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=4)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = pd.DataFrame(list(compared(args)))
    mean = found.groupby(["table", "way"], sort=False)[["score", "loss", "n_terms"]].mean().unstack("way")
    print(mean.round(4).to_string())
    first = next(iter(WAYS))
    for way in WAYS:
        score = mean["score"][way] - mean["score"][first]
        loss = 100 * (mean["loss"][way] / mean["loss"][first] - 1)
        print(f"{way}: score {score.mean():+.4f}, give or take {score.sem():.4f};", end=" ")
        print(f"loss {loss.mean():+.2f} %, {loss.sem():.2f}; {mean['n_terms'][way].mean():.0f} terms")


if __name__ == "__main__":
    main()
