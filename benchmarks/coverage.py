"""Coverage of 95 % intervals: of the coefficients of given steps, and of the metrics of `assess`.

    python -m benchmarks.coverage terms [SIMULATIONS]
    python -m benchmarks.coverage metrics [SIMULATIONS]

The steps of `terms` are given, with one threshold for each of two features that are both required, so that nothing is
selected. Columns: coverage of `Term.interval`, coverage of the coefficient plus or minus 1.96 standard errors, and the
mean coefficient, whose true value is 1. `metrics` draws scores of a known distribution, whose true metrics come from a
sample of four million rows.
"""

import sys
import warnings

import numpy as np

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam.arrays import FloatArray
from sparsegam.inspection._assessment import assess_scores

SIZES = (300, 3000)
METRIC_SIZES = (100, 400, 2000)
SIMULATIONS = 1000
TRUTH_ROWS = 4_000_000
OPTIONS = {"thresholds": {0: [0.5], 1: [0.5]}, "features_always": [0, 1], "lambda0": 0.0, "max_terms": 2}


def fitted_terms(kind: str, n: int, lambda2: float | str, rng: np.random.Generator):
    """Fit two given steps, whose true coefficients are 1, to simulated rows; return the terms."""
    X = rng.random((n, 2))
    score = (X <= 0.5).sum(axis=1) - 1.0
    if kind == "logistic":
        y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
        return SparseGAMClassifier(lambda2=lambda2, **OPTIONS).fit(X, y).terms_
    return SparseGAMRegressor(lambda2=lambda2, **OPTIONS).fit(X, score + 2.0 * rng.standard_normal(n)).terms_


def term_coverage(kind: str, n: int, lambda2: float | str, simulations: int) -> tuple[float, float, float]:
    """Return the coverage of the interval, that of an interval around the coefficient, and the mean coefficient."""
    rng = np.random.default_rng(n)
    covered, around, coefs = [], [], []
    for _ in range(simulations):
        for term in fitted_terms(kind, n, lambda2, rng):
            low, high = term.interval
            covered.append(low <= 1.0 <= high)
            around.append(abs(term.coef - 1.0) <= 1.96 * term.standard_error)
            coefs.append(term.coef)
    return float(np.mean(covered)), float(np.mean(around)), float(np.mean(coefs))


def compare_terms(simulations: int) -> None:
    """Print the coverage of the intervals of given steps."""
    print("| loss | rows | lambda2 | interval | coefficient ± 1.96 standard errors | mean coefficient |")
    print("|---|---|---|---|---|---|")
    for kind in ("logistic", "squared"):
        for n in SIZES:
            for lambda2 in ("auto", 0.0):
                covered, around, mean = term_coverage(kind, n, lambda2, simulations)
                print(f"| {kind} | {n} | {lambda2} | {covered:.3f} | {around:.3f} | {mean:.2f} |", flush=True)


def drawn_scores(n: int, rng: np.random.Generator) -> tuple[FloatArray, np.ndarray]:
    """Draw log-odds and events that follow them."""
    score = rng.normal(-0.5, 1.5, n)
    return score, rng.random(n) < 1 / (1 + np.exp(-score))


def compare_metrics(simulations: int) -> None:
    """Print the coverage of the intervals of the metrics; KS has none."""
    model = Model(0.0, (), ("x",), "logistic", (False, True))
    truth = {m.name: m.value for m in assess_scores(model, *drawn_scores(TRUTH_ROWS, np.random.default_rng(0)))}
    print(f"| rows | {' | '.join(truth)} |")
    print(f"|---|{'---|' * len(truth)}")
    for n in METRIC_SIZES:
        rng = np.random.default_rng(n)
        found = [assess_scores(model, *drawn_scores(n, rng)) for _ in range(simulations)]
        covered = np.mean([[m.low <= truth[m.name] <= m.high for m in one] for one in found], axis=0)
        cells = ["-" if name == "KS" else f"{share:.3f}" for name, share in zip(truth, covered, strict=True)]
        print(f"| {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compare = {"terms": compare_terms, "metrics": compare_metrics}[sys.argv[1]]
    compare(int(sys.argv[2]) if len(sys.argv) > 2 else SIMULATIONS)
