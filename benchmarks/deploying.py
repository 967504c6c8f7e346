"""Compare exports with decision_function, measure the cost of rounding, and compare small scorecards with FasterRisk.

python -m benchmarks.deploying [--parts exports rounding small] [--data FOLDER] [--fasterrisk PYTHON] [--seeds 0 1]

`exports` runs every export in its target engine (tests/_helpers/engines.py) on 10,000 rows of each table; engines that
are not installed are listed with the reason. `rounding` measures cross-validated test AUC before and after rounding to
points. `small` needs FasterRisk 0.1.10 in a separate environment, whose interpreter --fasterrisk names: both packages
search the columns `x <= t` of all training values for the same number of terms with points from -5 to 5, on five folds
per seed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks import runner
from benchmarks.data import REPOSITORY, data_directory
from sparsegam import SparseGAMClassifier, gam_path
from sparsegam.datasets import fetch_compas, make_credit
from sparsegam.deploy import small_scorecard

sys.path.append(str(REPOSITORY / "tests"))
from _helpers import engines

FASTERRISK = "FasterRisk 0.1.10"
PARTS = ("exports", "rounding", "small")
N_ROWS = 10_000
# The formula engine evaluates one cell at a time.
FEW_ROWS = {"excel": 100}
ROUNDING_SIZES = (10, 12, 15, 20)
SMALL_SIZES = (5, 10)
SPECIAL = [-7, -8, -9]
Data = tuple[pd.DataFrame, NDArray[np.int64]]


def raw_tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame, NDArray[np.int64], dict[str, Any]]]:
    """Yield the raw tables: FICO, COMPAS with text and missing values, and simulated credit with missing values."""
    yield "FICO", *fico(folder), {"special_values": SPECIAL}
    compas = pd.read_csv(folder / "compas.csv.gz").drop(columns=["is_recid", "score_text"])
    y = compas.pop("two_year_recid").to_numpy()
    yield "COMPAS", compas, y, {}
    credit = make_credit(N_ROWS)
    frame = credit.frame.astype(float).mask(np.random.default_rng(0).random(credit.frame.shape) < 0.03)
    yield "simulated", frame, credit.target, {"special_values": SPECIAL}


def fico(folder: Path) -> Data:
    """Read FICO; label 1 is Bad."""
    frame = pd.read_csv(folder / "fico.csv.gz")
    y = (frame.pop("RiskPerformance") == "Bad").to_numpy(dtype=np.int64)
    return frame, y


def paper_compas(folder: Path) -> Data:
    """Read COMPAS as in the paper."""
    data = fetch_compas(folder / "compas.csv.gz")
    return data.frame, data.target


def exports(folder: Path) -> pd.DataFrame:
    """Measure the largest difference of each export from decision_function."""
    rows = []
    for name, frame, y, options in raw_tables(folder):
        model = SparseGAMClassifier(lambda0=5, **options).fit(frame, y).model_
        sample = frame.iloc[np.random.default_rng(1).choice(len(frame), N_ROWS, replace=len(frame) < N_ROWS)]
        for engine in engines.ENGINES:
            n = FEW_ROWS.get(engine, N_ROWS)
            taken = sample.iloc[:n].reset_index(drop=True).assign(**{engines.KEY: np.arange(n)})
            rows.append(
                {
                    "table": name,
                    "terms": model.n_terms,
                    "export": engine,
                    "rows": n,
                    **differences(engine, model, taken),
                }
            )
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def differences(engine: str, model: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """Return the largest differences of score and probability and the seconds, or why the engine cannot run."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score, probability = engines.ENGINES[engine](model, frame)
    except engines.EngineNotInstalled as reason:
        return {"score_differs": np.nan, "probability_differs": np.nan, "note": str(reason)}
    return {
        "score_differs": np.abs(score - model.decision_function(frame)).max(),
        "probability_differs": np.abs(probability - model.predict_proba(frame)[:, 1]).max(),
        "seconds": time.perf_counter() - start,
    }


def folds(data: Data, seed: int = 0) -> Iterator[tuple[int, Data, Data]]:
    """Yield five folds, each with its training and test rows."""
    frame, y = data
    for fold, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=seed).split(frame, y)):
        yield fold, (frame.iloc[train], y[train]), (frame.iloc[test], y[test])


def rounding(folder: Path) -> pd.DataFrame:
    """Measure test AUC and log loss before and after rounding to 20 points per doubling of the odds."""
    rows = []
    for name, data in (("FICO", fico(folder)), ("COMPAS", paper_compas(folder))):
        for fold, (X, y), (X_test, y_test) in folds(data):
            path = gam_path(X, y, max_terms=max(ROUNDING_SIZES))
            for k in ROUNDING_SIZES:
                model = path.at(n_terms=k)
                start = time.perf_counter()
                scorecard = model.scorecard(X, y, pdo=20, odds=50, base_points=600)
                seconds = time.perf_counter() - start
                probabilities = [m.predict_proba(X_test)[:, 1] for m in (model, scorecard)]
                auc, loss = ([measure(y_test, p) for p in probabilities] for measure in (roc_auc_score, log_loss))
                cell = {"table": name, "fold": fold, "terms": k, "auc_before": auc[0], "auc_after": auc[1]}
                cell |= {"loss_before": loss[0], "loss_after": loss[1], "auc_lost": auc[0] - auc[1], "seconds": seconds}
                rows.append(cell)
    return pd.DataFrame(rows)


def small(folder: Path, fasterrisk: str, seeds: Sequence[int]) -> pd.DataFrame:
    """Compare scorecards with points from -5 to 5 with FasterRisk: same folds, columns and number of terms."""
    rows = []
    for name, data in (("COMPAS", paper_compas(folder)), ("FICO", fico(folder))):
        for seed, (fold, train, test), k in itertools.chain.from_iterable(
            itertools.product([seed], folds(data, seed), SMALL_SIZES) for seed in seeds
        ):
            cell = {"table": name, "seed": seed, "fold": fold, "terms": k}
            rows += [cell | fit_sparsegam(train, test, k), cell | fit_fasterrisk(train, test, k, fasterrisk)]
            print(rows[-2], rows[-1], flush=True)
    return pd.DataFrame(rows)


def paired(table: pd.DataFrame) -> pd.DataFrame:
    """Return test AUC of sparsegam minus that of FasterRisk with its standard error, and seconds, by table and size."""
    index = ["table", "terms", "seed", "fold"]
    wide = table.pivot(index=index, columns="contender", values=["auc", "train_loss", "seconds"])
    sparsegam_, fasterrisk_ = (wide.xs(name, axis=1, level=1) for name in ("sparsegam", FASTERRISK))
    groups = (sparsegam_ - fasterrisk_).groupby(["table", "terms"])
    out = pd.DataFrame({"splits": groups.size(), "auc_ahead": groups["auc"].mean(), "se": groups["auc"].sem()})
    out["train_loss_difference"] = groups["train_loss"].mean()
    for name, each in (("sparsegam", sparsegam_), (FASTERRISK, fasterrisk_)):
        out[f"seconds, {name}"] = each["seconds"].groupby(["table", "terms"]).mean()
    return out


def fit_sparsegam(train: Data, test: Data, k: int) -> dict[str, Any]:
    """Search a small scorecard from the raw table; the time includes reading, binning and the rounding report."""
    start = time.perf_counter()
    scorecard = small_scorecard(*train, max_terms=k)
    seconds = time.perf_counter() - start
    result = {"auc": roc_auc_score(test[1], scorecard.score(test[0])), "train_auc": scorecard.rounding.auc_after}
    return {"contender": "sparsegam", "seconds": seconds, **result, "train_loss": scorecard.rounding.log_loss_after}


def fit_fasterrisk(train: Data, test: Data, k: int, python: str) -> dict[str, Any]:
    """Run FasterRisk on the 0/1 columns; only its optimisation is timed."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "rows.npz"
        X = columns(train[0], train[0])
        np.savez(path, X=X, y=2 * train[1] - 1, X_test=columns(test[0], train[0]))
        command = [python, str(Path(__file__).parent / "fasterrisk_worker.py"), str(path), str(k)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    reply = json.loads(process.stdout.splitlines()[-1])
    trained = X[:, reply["columns"]] @ np.array(reply["points"])
    result = {"auc": roc_auc_score(test[1], reply["scores"]), "train_auc": roc_auc_score(train[1], trained)}
    # A logistic regression on the points, as sparsegam fits one: the losses are comparable.
    calibration = LogisticRegression(C=np.inf).fit(trained[:, None], train[1])
    result["train_loss"] = log_loss(train[1], calibration.predict_proba(trained[:, None])[:, 1])
    return {"contender": FASTERRISK, "seconds": reply["seconds"], **result}


def columns(frame: pd.DataFrame, learned: pd.DataFrame) -> NDArray[np.uint8]:
    """Return the columns `x <= t` for every training value of a feature except the largest."""
    parts = [frame[name].to_numpy()[:, None] <= np.unique(learned[name])[:-1] for name in learned]
    return np.column_stack(parts).astype(np.uint8)


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the tables (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1], help="seeds of the folds of `small`")
    parser.add_argument("--fasterrisk", help="interpreter of an environment with FasterRisk 0.1.10")
    return parser.parse_args()


def main() -> None:
    """Run the selected parts, print the results and write results/deploying-*.csv."""
    args = options()
    folder = data_directory(args.data)
    if "exports" in args.parts:
        table = exports(folder)
        print(table.drop(columns=["seconds"]).to_string(index=False))
        runner.save("deploying-exports.csv", table)
    if "rounding" in args.parts:
        table = rounding(folder)
        print(table.groupby(["table", "terms"]).mean().drop(columns="fold").to_string(float_format="{:.5f}".format))
        print("largest loss of mean test AUC:", table.groupby(["table", "terms"])["auc_lost"].mean().max())
        print("largest loss of test AUC in one fold:", table.groupby(["table", "terms"])["auc_lost"].max().to_string())
        runner.save("deploying-rounding.csv", table)
    if "small" in args.parts:
        if args.fasterrisk is None:
            print("small: skipped; it requires the option --fasterrisk")
            return
        table = small(folder, args.fasterrisk, args.seeds)
        means = table.groupby(["table", "terms", "contender"]).mean().drop(columns=["seed", "fold"])
        print(means.to_string(float_format="{:.4f}".format))
        print(paired(table).to_string(float_format="{:.5f}".format))
        runner.save("deploying-small.csv", table)


if __name__ == "__main__":
    main()
