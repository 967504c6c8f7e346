"""Compare strategies of cross-validation for choosing ridge and size: repeated splits, scores averaged over neighbours.

python -m benchmarks.choosing [--data FOLDER] [--tables NAME ...] [--seed 1] [--max-terms 50] [--repeats 4]

For each table and fold, all ridges and sizes are scored once, with all repeats. Each strategy then chooses from the
same scores, and the chosen model is scored on the test rows. The folds of seed 0 are those of `newrows`. The output
shows AUC and log loss (for regressions R2 and root mean squared error) and the number of terms, then the mean
difference of each strategy from the first.
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
# Number of repeats that are used (0: all) and rule of each strategy.
STRATEGIES = {
    "one split, best": (1, "best"),
    "repeated, best": (0, "best"),
    "one split, steady": (1, "steady"),
    "repeated, steady": (0, "steady"),
}
SMALL = [
    *("german", "attrition", "OJ", "HMDA", "PSID1976", "Chile", "TitanicSurvival", "credit-500", "ResumeNames"),
    *("credit_data", "mlc_churn", "credit-5000", "Arrests", "Caravan", "stackoverflow", "compas", "wa_churn"),
    *("HealthInsurance", "taxi", "Default", "flchain"),
]


def cross_validation_scores(fold: Fold, options: Mapping[str, Any], max_terms: int, repeats: int | str) -> CVScores:
    """Return the cross-validation scores of all ridges and sizes on the training rows."""
    kind = SparseGAMClassifierCV if fold.train.binary else SparseGAMRegressorCV
    gam = kind(max_terms=max_terms, n_repeats=repeats, **options).fit(fold.train.frame, fold.train.y)
    found = gam.cv_results_
    lambda2, sizes = np.unique(found["lambda2"]), np.unique(found["n_terms"])
    splits = [name for name in found if name.startswith("split")]
    scores = np.stack([found[f"split{i}_test_score"] for i in range(len(splits))], axis=-1)
    ridges = tuple(ridge_of(value, "logistic", standardize=False) for value in lambda2)
    return CVScores(ridges, lambda2, sizes, scores.reshape(len(lambda2), len(sizes), -1), N_FOLDS)


def make_test(fold: Fold, options: Mapping[str, Any], max_terms: int) -> Callable[[float, int], tuple[float, float]]:
    """Return a function that scores the model of a ridge and a size on the test rows. Each path is searched once."""
    paths: dict[float, Any] = {}
    loss = "logistic" if fold.train.binary else "squared"

    def test(lambda2: float, size: int) -> tuple[float, float]:
        if lambda2 not in paths:
            settings = {"max_terms": max_terms, "lambda2": lambda2, "standardize": False, "loss": loss}
            paths[lambda2] = gam_path(fold.train.frame, fold.train.y, **settings, **options)
        model = paths[lambda2].at(n_terms=min(size, int(paths[lambda2].n_terms[-1])))
        return _tested(model, fold.test)

    return test


def _tested(model: Any, test: Rows) -> tuple[float, float]:
    if test.binary:
        probability: NDArray[Any] = model.predict_proba(test.frame)[:, 1]
        return roc_auc_score(test.y, probability), log_loss(test.y, probability)
    predicted = model.predict(test.frame)
    return r2_score(test.y, predicted), root_mean_squared_error(test.y, predicted)


def compare_strategies(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Apply each strategy to every fold of every table."""
    known = tables(args.data or data_directory())
    for name in tqdm(args.tables, unit="table"):
        options = known[name].options
        for number, fold in enumerate(folds(known[name].load(), 2, "none", seed=args.seed)):
            cv_scores, test = (
                cross_validation_scores(fold, options, args.max_terms, args.repeats),
                make_test(fold, options, args.max_terms),
            )
            for strategy, (n_repeats, rule) in STRATEGIES.items():
                used = cv_scores.scores[:, :, : n_repeats * N_FOLDS or None]
                part = CVScores(cv_scores.ridges, cv_scores.lambda2, cv_scores.n_terms, used, N_FOLDS)
                ridge, size = part.choose(rule)
                score, loss = test(float(cv_scores.lambda2[ridge]), int(cv_scores.n_terms[size]))
                cell = {"table": name, "fold": number, "strategy": strategy, "n_terms": cv_scores.n_terms[size]}
                yield cell | {"score": score, "loss": loss}


def main() -> None:
    """Run the comparison and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="folder of the public tables")
    parser.add_argument("--tables", nargs="+", default=SMALL, metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-terms", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=4)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = pd.DataFrame(list(compare_strategies(args)))
    mean = found.groupby(["table", "strategy"], sort=False)[["score", "loss", "n_terms"]].mean().unstack("strategy")
    print(mean.round(4).to_string())
    first = next(iter(STRATEGIES))
    for strategy in STRATEGIES:
        score = mean["score"][strategy] - mean["score"][first]
        loss = 100 * (mean["loss"][strategy] / mean["loss"][first] - 1)
        print(f"{strategy}: score {score.mean():+.4f} +- {score.sem():.4f};", end=" ")
        print(f"loss {loss.mean():+.2f} +- {loss.sem():.2f} %; {mean['n_terms'][strategy].mean():.0f} terms")


if __name__ == "__main__":
    main()
