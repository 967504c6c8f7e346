"""One card beside all cores: the same models, search times with codes on the card, and all in from a NumPy table.

python -m benchmarks.cuda [--parts same search numpy frontier interactions growth] [--rows 1000000] [--cpu] [--data ..]

`same` fits FICO's eight cells without and with a ridge, COMPAS and a million simulated rows on both, and compares.
`search` is a fit at BIC of 23 features in 256 bins, drawn on the card; `--cpu` does the same on all cores beside it.
`numpy` is a fit of a table in host memory, with all that it takes; `interactions` is the same with interactions="auto",
where some pairs of features matter together. `growth` fits a thousand times, then twice at once.
Times are wall clock, warm; nothing else is needed than NumPy, scikit-learn and CuPy.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.codes import CardCodes, padded
from sparsegam._backends.cuda.design import CudaDesign
from sparsegam._backends.cuda.tables import CudaTables
from sparsegam._backends.cuda.target import CardTarget
from sparsegam._search.products import cells_of
from sparsegam._search.tables import Tables, Totals

from sparsegam import SparseGAMClassifier, _core
from sparsegam._backends.cuda.rows import CudaRows
from sparsegam._design.binning import Binning, Feature
from sparsegam._design.constraints import Constraints
from sparsegam._design.scaling import Units
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._search.options import SearchOptions
from sparsegam._search.problem import Problem
from sparsegam._search.solver import fit, frontier
from sparsegam.datasets import make_credit

FEATURES, BINS = 23, 256
TRUE = ((0, 40, 0.8), (1, 128, -0.6), (2, 200, 0.5), (3, 64, -0.4), (4, 100, 0.7), (5, 150, -0.3), (6, 30, 0.5))
TRUE += ((7, 220, -0.5), (8, 90, 0.25), (9, 180, -0.2), (0, 160, 0.3), (4, 220, -0.3))
TOGETHER = ((0, 100, 3, 120, 0.7), (5, 90, 7, 150, -0.6), (11, 128, 12, 60, 0.5))
SPECIAL = {"special_values": [-9, -8, -7]}
CELL = {"min_samples_bin": 1}


def seconds_of(work: Any, rounds: int = 2) -> tuple[float, Any]:
    """Return the best wall-clock time of a few rounds, and what came out."""
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        out = work()
        best = min(best, time.perf_counter() - start)
    return best, out


def drawn(card: Card, n_rows: int, together: Sequence[tuple[int, int, int, int, float]] = ()) -> tuple[list[Any], Any]:
    """Draw codes and labels on the card; half of the features are skewed, so that rows crowd into few bins.

    Labels depend on some steps and, where asked for, on products of two.
    """
    xp = card.xp
    rng, codes, score = xp.random.RandomState(0), [], xp.full(n_rows, -0.4, dtype=np.float32)
    for j in range(FEATURES):
        part = xp.zeros(padded(n_rows), dtype=np.uint8)
        for first in range(0, n_rows, 2**27):
            last = min(first + 2**27, n_rows)
            u = rng.random_sample(last - first, dtype=np.float32)
            part[first:last] = xp.minimum((u if j % 2 else u * u * u) * BINS, BINS - 1).astype(np.uint8)
            for feature, bin_, coef in TRUE:
                if feature == j:
                    score[first:last] += np.float32(coef) * (part[first:last] <= bin_)
        codes.append(part)
    for one, bin_, other, than, coef in together:
        score += np.float32(coef) * ((codes[one][:n_rows] <= bin_) & (codes[other][:n_rows] <= than))
    y = xp.empty(n_rows, dtype=np.int8)
    for first in range(0, n_rows, 2**27):
        last = min(first + 2**27, n_rows)
        u = rng.random_sample(last - first, dtype=np.float32)
        y[first:last] = xp.where(u * (1 + xp.exp(-score[first:last])) < 1, 1, -1)
    return codes, y


class Ones:
    """Weights of one each, however many rows there are."""

    min = max = staticmethod(lambda: 1.0)


def features() -> list[Feature]:
    """Return features whose values are their codes."""
    return [Feature(f"x{j}", np.arange(BINS - 1.0)) for j in range(FEATURES)]


def problem_on_card(card: Card, codes: list[Any], y: Any) -> Problem[Any]:
    """Pose codes that are on a card."""
    with card:
        bins = np.full(FEATURES, BINS), np.full(FEATURES, BINS)
        on_card = CardCodes(card, codes, int(y.size), bins, [None] * FEATURES)
        rows = CudaRows(on_card, CardTarget(card, y, Ones(), "logistic"))
        design = CudaDesign(features(), rows, None, Constraints(), ([None] * FEATURES, ["steps"] * FEATURES))
    tables, totals = CudaTables(Binning(), Constraints()), Totals(float(y.size), 1.0, "upper")
    return tables.problem(design, rows, SearchOptions("logistic", "auto", None), Units(), totals)


def problem_on_cores(codes: list[Any], y: np.ndarray) -> Problem[Any]:
    """Pose the same codes on all cores."""
    design = ThresholdDesign(features(), codes)
    labels, ones, n_jobs = y.astype(np.float64), np.ones(y.size), os.cpu_count()
    rows = _core.ThresholdRows(design.core, labels, ones, loss="logistic", n_threads=n_jobs)
    options = SearchOptions("logistic", "auto", None, n_jobs=n_jobs)
    return Tables(Binning(), Constraints()).problem(design, rows, options, Units(), Totals(float(y.size), 1.0, y > 0))


def search(n_rows: int, *, cpu: bool, bandwidth: float) -> None:
    """Time a search at BIC with codes on the card; the limit is that of reading codes once per question."""
    card = Card()
    with card:
        codes, y = drawn(card, n_rows)
        card.wait()
    problem = problem_on_card(card, codes, y)
    seconds, found = seconds_of(lambda: fit(problem, "bic"), rounds=3 if n_rows < 10**9 else 2)
    counts = found.counts
    passes = sum(counts[name] for name in ("scans", "rescans"))
    evaluations = counts["evaluations"] + counts["newtons"]
    used = len({int(problem.design.group[c]) for c in found.point.columns})
    limit = n_rows * (passes * (FEATURES + 12) + evaluations * (used + 9)) / bandwidth
    line = f"search {n_rows:>11,}: card {seconds:7.3f} s, {len(found.point.columns)} terms"
    line += f", objective {found.objective:.6f}, limit by bandwidth {limit:.3f} s, {counts}"
    print(line, flush=True)
    profile(problem, found.point)
    if cpu:
        with card:
            here, labels = [card.fetch(code[:n_rows]) for code in codes], card.fetch(y)
        on_cores = problem_on_cores(here, labels)
        seconds, same = seconds_of(lambda: fit(on_cores, "bic"), rounds=1)
        print(
            f"   {os.cpu_count()} cores {seconds:7.3f} s, {len(same.point.columns)} terms, objective "
            f"{same.objective:.6f}, same terms {set(same.point.columns) == set(found.point.columns)}",
            flush=True,
        )


def profile(problem: Problem[Any], point: Any) -> None:
    """Time each question by itself."""
    rows, empty = problem.rows, np.zeros(0, dtype=np.int64)
    cells = [cells_of(problem.design, j) for j in range(FEATURES)]
    pairs = np.array(list(combinations(range(FEATURES), 2)))
    point = problem.units.to_core(point)
    trials = [_core.Point(point.intercept + t, point.columns, point.coef) for t in np.linspace(0.01, 0.1, 8)]
    token = rows.scan(point, empty)[0]
    asked = {
        "evaluate 1": lambda i: rows.evaluate([trials[i % 8]]),
        "evaluate 8": lambda i: rows.evaluate(trials),
        "newton": lambda i: rows.newton(trials[i % 8], point.columns),
        "scan": lambda i: rows.scan(trials[i % 8], empty),
        "rescan 1": lambda i: rows.rescan(token, trials[i % 8], point.columns[:1], empty),
        "pairs": lambda i: rows.pair_sums(trials[i % 8], cells, pairs),
    }
    told = []
    for name, ask in asked.items():
        times = []
        for i in range(5):
            start = time.perf_counter()
            ask(i)
            times.append(time.perf_counter() - start)
        told.append(f"{name} {1e3 * min(times):.3f}")
    print("   ms by question: " + ", ".join(told), flush=True)


def bandwidth_of(card: Card) -> float:
    """Return bytes a second that the card copies, read and written."""
    with card:
        one = card.xp.zeros(2**31, dtype=np.uint8)
        other = card.xp.empty_like(one)

        def copy() -> None:
            for _ in range(10):
                other[...] = one
            card.wait()

        copy()
        return 20 * one.size / seconds_of(copy, rounds=3)[0]


def table(n_rows: int, together: Sequence[tuple[int, int, int, int, float]] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Return a NumPy table of single precision, and labels."""
    card = Card()
    with card:
        codes, y = drawn(card, n_rows, together)
        turned = card.xp.empty((n_rows, FEATURES), dtype=np.float32)
        for j, code in enumerate(codes):
            turned[:, j] = code[:n_rows]
        X, labels = card.fetch(turned), card.fetch(y)
        del codes, y, turned
        card.xp.get_default_memory_pool().free_all_blocks()
    return X, labels


def from_numpy(n_rows: int, *, cpu: bool, interactions: str | int = 0) -> None:
    """Time a fit of a table in host memory, all in."""
    X, labels = table(n_rows, TOGETHER if interactions else ())
    first = None
    for device in ("cuda", "cpu") if cpu else ("cuda",):
        gam = SparseGAMClassifier(device=device, lambda0="bic", n_jobs=-1, interactions=interactions)
        seconds, found = seconds_of(partial(gam.fit, X, labels), rounds=2 if device == "cuda" else 1)
        first = first or found
        products = sum(term.also is not None for term in found.terms_)
        print(
            f"numpy {n_rows:>11,} on {device}: {seconds:.2f} s, {found.n_terms_} terms, {products} of them products, "
            f"{found.objective_:.6f}, {len(terms_of(found) & terms_of(first))} terms in common",
            flush=True,
        )


def frontiers(n_rows: int, *, cpu: bool) -> None:
    """Time a frontier to 50 terms."""
    card = Card()
    with card:
        codes, y = drawn(card, n_rows)
        card.wait()
    problem = problem_on_card(card, codes, y)
    asked = SearchOptions("logistic", "auto", 50)
    problem = CudaTables(Binning(), Constraints()).problem(
        problem.design, problem.rows, asked, Units(), Totals(float(n_rows), 1.0, "upper")
    )
    seconds, found = seconds_of(lambda: frontier(problem), rounds=1)
    print(f"frontier to 50 of {n_rows:,}: card {seconds:.2f} s, {dict(found.counts)}", flush=True)
    if cpu:
        with card:
            here, labels = [card.fetch(code[:n_rows]) for code in codes], card.fetch(y)
        on_cores = problem_on_cores(here, labels)
        seconds, _ = seconds_of(lambda: frontier(on_cores), rounds=1)
        print(f"   {os.cpu_count()} cores {seconds:.2f} s", flush=True)


def fico(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the training rows of the third fold of FICO."""
    from sklearn.model_selection import StratifiedKFold

    with gzip.open(folder / "fico.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")
        lines = [line.strip().split(",") for line in file]
    target = names.index("RiskPerformance")
    y = np.array([line[target] == "Bad" for line in lines]).astype(int)
    X = np.array([[float(v) for j, v in enumerate(line) if j != target] for line in lines])
    train = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[2][0]
    return X[train], y[train]


def compas(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read COMPAS, without what is known only later, and whether someone came back within two years."""
    with gzip.open(folder / "compas.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")
        lines = [line.strip().split(",") for line in file]
    words = {"sex", "c_charge_degree", "race"}
    left_out = {"score_text", "is_recid", "two_year_recid"}
    taken = [(j, name in words) for j, name in enumerate(names) if name not in left_out]
    X = np.array([[line[j] if word else float(line[j] or "nan") for j, word in taken] for line in lines], dtype=object)
    return X, np.array([line[-1] == "1" for line in lines]).astype(int)


def terms_of(gam: Any) -> set[Any]:
    """Return what the terms of a model ask."""
    return {tuple((one.feature, one.condition) for one in term.clauses) for term in gam.terms_}


def same(folder: Path | None) -> None:
    """Fit on both, and compare terms and objectives."""
    cases = []
    if folder is not None:
        rows = fico(folder)
        cases += [
            (f"FICO {loss} {price}, ridge {ridge}", rows, CELL | {"loss": loss, "lambda0": price, "lambda2": ridge})
            for ridge in (0.0, "auto")
            for loss in ("logistic", "exponential")
            for price in (7, 5, 3, 2)
        ]
        cases.append(("COMPAS", compas(folder), {}))
        cases.append(("COMPAS interactions", compas(folder), {"interactions": "auto"}))
        cases.append(("FICO interactions", rows, SPECIAL | {"interactions": "auto"}))
    credit = make_credit(1_000_000)
    cases.append(("credit 10^6", (np.asarray(credit.data), np.asarray(credit.target)), SPECIAL | {"lambda0": "bic"}))
    for name, (X, y), options in cases:
        cpu = SparseGAMClassifier(n_jobs=-1, **options).fit(X, y)
        cuda = SparseGAMClassifier(device="cuda", **options).fit(X, y)
        again = SparseGAMClassifier(device="cuda", **options).fit(X, y)
        mine, theirs = terms_of(cuda), terms_of(cpu)
        off = (cuda.objective_ - cpu.objective_) / cpu.objective_
        bits = cuda.model_.to_json() == again.model_.to_json()
        print(
            f"same {name:22}: {cpu.objective_:.6f} cpu, {cuda.objective_:.6f} cuda, off {off:+.1e}, "
            f"terms {len(theirs)} / {len(mine)}, {len(mine & theirs)} in common, same bits again {bits}",
            flush=True,
        )


def growth(fits: int = 1000) -> None:
    """Fit many times and see what memory is held; then two at once."""
    credit = make_credit(2000)
    X, y = np.asarray(credit.data), np.asarray(credit.target)

    def one(seed: int) -> str:
        rows = np.random.default_rng(seed).permutation(len(y))[:1500]
        return SparseGAMClassifier(device="cuda", max_terms=5).fit(X[rows], y[rows]).model_.to_json()

    card = Card()
    pool = card.xp.get_default_memory_pool()
    held = []
    start = time.perf_counter()
    for i in range(fits):
        one(i % 10)
        if i + 1 in (10, 100, fits // 2, fits):
            free, total = card.xp.cuda.runtime.memGetInfo()
            held.append((i + 1, pool.used_bytes(), pool.total_bytes(), total - free))
    print(f"growth: {(time.perf_counter() - start) / fits:.3f} s a fit; fits, used, held, on card: {held}", flush=True)
    alone = [one(i) for i in range(10)]
    with ThreadPoolExecutor(2) as threads:
        print(f"two at once give what one at a time does: {list(threads.map(one, range(10))) == alone}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["same", "search", "numpy", "frontier", "interactions", "growth"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7, 10**8, 10**9])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--fits", type=int, default=1000)
    args = parser.parse_args()
    card = Card()
    bandwidth = bandwidth_of(card)
    print(f"{card.name}: copies {bandwidth / 1e12:.2f} TB/s, read and written", flush=True)
    for part in args.parts:
        if part == "same":
            same(args.data)
        if part == "growth":
            growth(args.fits)
        for n_rows in args.rows if part in ("search", "numpy", "frontier", "interactions") else ():
            card.xp.get_default_memory_pool().free_all_blocks()
            if part == "search":
                search(n_rows, cpu=args.cpu, bandwidth=bandwidth)
            elif part in ("numpy", "interactions"):
                from_numpy(n_rows, cpu=args.cpu, interactions="auto" if part == "interactions" else 0)
            else:
                frontiers(n_rows, cpu=args.cpu)


if __name__ == "__main__":
    main()
