"""Compare fits on a GPU with fits on all CPU cores: models, search times and total times.

python -m benchmarks.cuda [--parts same search numpy frontier interactions growth] [--rows 1000000] [--cpu] [--data ..]

`same` fits eight FICO cells with and without a ridge, COMPAS and a million simulated rows on both, and compares the
models. `search` times a fit with lambda0="bic" of 23 features with 256 bins, simulated on the GPU; `--cpu` also times
it on all cores. `numpy` times a complete fit of a table in host memory; `interactions` does so with
interactions="auto", where some pairs of features interact. `frontier` times the search of models of all sizes.
`growth` measures the memory of a thousand fits, then runs two fits at once.

Times are wall-clock times after a first fit. Only NumPy, scikit-learn and CuPy are required.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sparsegam import SparseGAMClassifier, _core
from sparsegam._backends.cuda.backend import CudaTable
from sparsegam._backends.cuda.device import Device
from sparsegam._backends.cuda.layouts import DeviceCodes, DeviceTarget, padded_size
from sparsegam._backends.cuda.rows import CudaThresholdRows
from sparsegam._backends.local import encoded_table
from sparsegam._design.binning import Binning, Feature
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.scaling import Units
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._search.options import SearchOptions
from sparsegam._search.problem import Problem
from sparsegam._search.solver import fit, frontier
from sparsegam._search.table_problem import build_table_problem
from sparsegam.datasets import make_credit

FEATURES, BINS, COARSE_BINS = 23, 256, 32
CHUNK = 2**27  # rows that are simulated at once
# Feature, largest bin and coefficient of each step of the simulation.
STEPS = ((0, 40, 0.8), (1, 128, -0.6), (2, 200, 0.5), (3, 64, -0.4), (4, 100, 0.7), (5, 150, -0.3), (6, 30, 0.5))
STEPS += ((7, 220, -0.5), (8, 90, 0.25), (9, 180, -0.2), (0, 160, 0.3), (4, 220, -0.3))
# Feature and largest bin of both conditions, and coefficient, of each interaction.
INTERACTIONS = ((0, 100, 3, 120, 0.7), (5, 90, 7, 150, -0.6), (11, 128, 12, 60, 0.5))
SPECIAL = {"special_values": [-9, -8, -7]}
CELL = {"min_samples_bin": 1}


def seconds_of(work: Any, rounds: int = 2) -> tuple[float, Any]:
    """Return the best wall-clock time of several rounds, and the last result."""
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        out = work()
        best = min(best, time.perf_counter() - start)
    return best, out


def simulate(
    device: Device, n_rows: int, interactions: Sequence[tuple[int, int, int, int, float]] = ()
) -> tuple[list[Any], Any]:
    """Simulate bin codes and labels on the device; half of the features are skewed, with most rows in few bins."""
    xp = device.xp
    rng, codes, score = xp.random.RandomState(0), [], xp.full(n_rows, -0.4, dtype=np.float32)
    for j in range(FEATURES):
        part = xp.zeros(padded_size(n_rows), dtype=np.uint8)
        for first in range(0, n_rows, CHUNK):
            last = min(first + CHUNK, n_rows)
            u = rng.random_sample(last - first, dtype=np.float32)
            part[first:last] = xp.minimum((u if j % 2 else u * u * u) * BINS, BINS - 1).astype(np.uint8)
            for feature, bin_, coef in STEPS:
                if feature == j:
                    score[first:last] += np.float32(coef) * (part[first:last] <= bin_)
        codes.append(part)
    for one, bin_, other, other_bin, coef in interactions:
        score += np.float32(coef) * ((codes[one][:n_rows] <= bin_) & (codes[other][:n_rows] <= other_bin))
    y = xp.empty(n_rows, dtype=np.int8)
    for first in range(0, n_rows, CHUNK):
        last = min(first + CHUNK, n_rows)
        u = rng.random_sample(last - first, dtype=np.float32)
        y[first:last] = xp.where(u * (1 + xp.exp(-score[first:last])) < 1, 1, -1)
    return codes, y


class UnitWeights:
    """Weights of 1 for any number of rows, which take no memory."""

    min = max = staticmethod(lambda: 1.0)


def features() -> list[Feature]:
    """Return features whose values are their bin codes."""
    return [Feature(f"x{j}", np.arange(BINS - 1.0)) for j in range(FEATURES)]


@dataclass(frozen=True, eq=False)
class EncodedData:
    """An encoded table in place of training data, and the backend that returns it."""

    table: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.table.design.names

    def encode(self, *_: Any, **__: Any) -> Any:
        """Return the table."""
        return self.table


def problem_of(table: Any, *, max_terms: int | None, n_jobs: int | None = None) -> Problem[Any]:
    """Build the problem of an encoded table, with the default ridge."""
    data, options = EncodedData(table), SearchOptions("logistic", "auto", max_terms, n_jobs=n_jobs)
    return build_table_problem(data, data, Binning(), Constraints(), InteractionOptions(), options)


def problem_on_device(device: Device, codes: list[Any], y: Any, *, max_terms: int | None = None) -> Problem[Any]:
    """Build a problem from codes and labels on the device."""
    n_rows, n_bins, no_ramps = int(y.size), np.full(FEATURES, BINS), [None] * FEATURES
    with device:
        on_device = DeviceCodes(device, codes, n_rows, n_bins, n_bins, no_ramps)
        rows = CudaThresholdRows(on_device, DeviceTarget(device, y, UnitWeights(), "logistic"))
    design = ThresholdDesign(
        features=tuple(features()),
        n_rows=n_rows,
        counts=rows.counts,
        weights=rows.counts,
        ramps=tuple(no_ramps),
        shapes=("steps",) * FEATURES,
    )
    # The raw values are required for ramps only.
    table = CudaTable(design, rows, Units(), float(n_rows), features=None, weight=None, feature_rows=rows)
    return problem_of(table, max_terms=max_terms)


def problem_on_host(
    device: Device, codes: list[Any], y: Any, *, n_jobs: int | None = None, max_terms: int | None = None
) -> Problem[Any]:
    """Copy codes and labels to the host and build the problem there, for `n_jobs` threads (default: all cores)."""
    n_jobs = n_jobs or os.cpu_count() or 1
    with device:
        host_codes, labels = [device.fetch(code[: y.size]) for code in codes], device.fetch(y).astype(np.float64)
    shapes = ["steps"] * FEATURES
    table = encoded_table(features(), host_codes, labels, loss="logistic", shapes=shapes, n_threads=n_jobs)
    return problem_of(table, max_terms=max_terms, n_jobs=n_jobs)


def search(n_rows: int, *, cpu: bool, bandwidth: float) -> None:
    """Time a search with lambda0="bic" from codes on the device.

    The bandwidth limit is the time to read the codes and derivatives once for every pass over the rows.
    """
    device = Device()
    with device:
        codes, y = simulate(device, n_rows)
        device.wait()
    problem = problem_on_device(device, codes, y)
    seconds, found = seconds_of(lambda: fit(problem, "bic"), rounds=3 if n_rows < 10**9 else 2)
    counts = found.counts
    passes = sum(counts[name] for name in ("scans", "rescans"))
    evaluations = counts["evaluations"] + counts["newtons"]
    used = len({int(problem.design.group[c]) for c in found.point.columns})
    limit = n_rows * (passes * (FEATURES + 12) + evaluations * (used + 9)) / bandwidth
    line = f"search {n_rows:>11,}: GPU {seconds:7.3f} s, {len(found.point.columns)} terms"
    line += f", objective {found.objective:.6f}, bandwidth limit {limit:.3f} s, {counts}"
    print(line, flush=True)
    profile(problem, found.point)
    if cpu:
        on_host = problem_on_host(device, codes, y)
        seconds, other = seconds_of(lambda: fit(on_host, "bic"), rounds=1)
        print(
            f"   {os.cpu_count()} cores {seconds:7.3f} s, {len(other.point.columns)} terms, objective "
            f"{other.objective:.6f}, same terms {set(other.point.columns) == set(found.point.columns)}",
            flush=True,
        )


def profile(problem: Problem[Any], point: Any) -> None:
    """Time each operation on the rows."""
    rows, empty = problem.rows, np.zeros(0, dtype=np.int64)
    coarse_bins = [((np.arange(BINS) * COARSE_BINS // BINS).astype(np.uint8), COARSE_BINS, COARSE_BINS)] * FEATURES
    pairs = np.array(list(combinations(range(FEATURES), 2)))
    point = problem.units.to_core(point)
    trials = [_core.Point(point.intercept + t, point.columns, point.coef) for t in np.linspace(0.01, 0.1, 8)]
    token = rows.scan(point, empty)[0]
    operations = {
        "evaluate 1": lambda i: rows.evaluate([trials[i % 8]]),
        "evaluate 8": lambda i: rows.evaluate(trials),
        "newton": lambda i: rows.newton(trials[i % 8], point.columns),
        "scan": lambda i: rows.scan(trials[i % 8], empty),
        "rescan 1": lambda i: rows.rescan(token, trials[i % 8], point.columns[:1], empty),
        "pairs": lambda i: rows.pair_sums(trials[i % 8], coarse_bins, pairs),
    }
    shown = []
    for name, operation in operations.items():
        times = []
        for i in range(5):
            start = time.perf_counter()
            operation(i)
            times.append(time.perf_counter() - start)
        shown.append(f"{name} {1e3 * min(times):.3f}")
    print("   ms by operation: " + ", ".join(shown), flush=True)


def bandwidth_of(device: Device) -> float:
    """Return the bytes per second that the device reads and writes when it copies an array."""
    with device:
        one = device.xp.zeros(2**31, dtype=np.uint8)
        other = device.xp.empty_like(one)

        def copy() -> None:
            for _ in range(10):
                other[...] = one
            device.wait()

        copy()
        return 20 * one.size / seconds_of(copy, rounds=3)[0]


def host_table(
    n_rows: int, interactions: Sequence[tuple[int, int, int, int, float]] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return a simulated NumPy table of float32, and labels."""
    device = Device()
    with device:
        codes, y = simulate(device, n_rows, interactions)
        transposed = device.xp.empty((n_rows, FEATURES), dtype=np.float32)
        for j, code in enumerate(codes):
            transposed[:, j] = code[:n_rows]
        X, labels = device.fetch(transposed), device.fetch(y)
        del codes, y, transposed
        device.xp.get_default_memory_pool().free_all_blocks()
    return X, labels


def from_numpy(n_rows: int, *, cpu: bool, interactions: str | int = 0) -> None:
    """Time a complete fit of a table in host memory."""
    X, labels = host_table(n_rows, INTERACTIONS if interactions else ())
    first = None
    for device in ("cuda", "cpu") if cpu else ("cuda",):
        gam = SparseGAMClassifier(device=device, lambda0="bic", n_jobs=-1, interactions=interactions)
        seconds, found = seconds_of(partial(gam.fit, X, labels), rounds=2 if device == "cuda" else 1)
        first = first or found
        n_interactions = sum(len(term.features) > 1 for term in found.terms_)
        print(
            f"numpy {n_rows:>11,} on {device}: {seconds:.2f} s, {found.n_terms_} terms, {n_interactions} of them "
            f"interactions, {found.objective_:.6f}, {len(terms_of(found) & terms_of(first))} terms in common",
            flush=True,
        )


def frontiers(n_rows: int, *, cpu: bool) -> None:
    """Time the search of the best models of all sizes up to 50 terms."""
    device = Device()
    with device:
        codes, y = simulate(device, n_rows)
        device.wait()
    problem = problem_on_device(device, codes, y, max_terms=50)
    seconds, found = seconds_of(lambda: frontier(problem), rounds=1)
    print(f"path to 50 terms of {n_rows:,} rows: GPU {seconds:.2f} s, {dict(found.counts)}", flush=True)
    if cpu:
        on_host = problem_on_host(device, codes, y, max_terms=50)
        seconds, _ = seconds_of(lambda: frontier(on_host), rounds=1)
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
    """Read the COMPAS features known at the time of the score, and recidivism within two years."""
    with gzip.open(folder / "compas.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")
        lines = [line.strip().split(",") for line in file]
    categorical = {"sex", "c_charge_degree", "race"}
    excluded = {"score_text", "is_recid", "two_year_recid"}
    used = [(j, name in categorical) for j, name in enumerate(names) if name not in excluded]
    X = np.array(
        [[line[j] if is_text else float(line[j] or "nan") for j, is_text in used] for line in lines], dtype=object
    )
    return X, np.array([line[-1] == "1" for line in lines]).astype(int)


def terms_of(gam: Any) -> set[Any]:
    """Return the features and conditions of the terms of a model."""
    return {tuple((one.feature, one.condition) for one in term.clauses) for term in gam.terms_}


def same(folder: Path | None) -> None:
    """Fit on GPU and CPU and compare terms and objectives."""
    cases = []
    if folder is not None:
        rows = fico(folder)
        cases += [
            (f"FICO {loss} {lambda0}, ridge {ridge}", rows, CELL | {"loss": loss, "lambda0": lambda0, "lambda2": ridge})
            for ridge in (0.0, "auto")
            for loss in ("logistic", "exponential")
            for lambda0 in (7, 5, 3, 2)
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
        cuda_terms, cpu_terms = terms_of(cuda), terms_of(cpu)
        difference = (cuda.objective_ - cpu.objective_) / cpu.objective_
        same_bits = cuda.model_.to_json() == again.model_.to_json()
        print(
            f"same {name:22}: {cpu.objective_:.6f} cpu, {cuda.objective_:.6f} cuda, difference {difference:+.1e}, "
            f"terms {len(cpu_terms)} / {len(cuda_terms)}, {len(cuda_terms & cpu_terms)} in common, "
            f"same bits again {same_bits}",
            flush=True,
        )


def growth(fits: int = 1000) -> None:
    """Fit many times and print the memory in use; then run two fits at once."""
    credit = make_credit(2000)
    X, y = np.asarray(credit.data), np.asarray(credit.target)

    def one(seed: int) -> str:
        rows = np.random.default_rng(seed).permutation(len(y))[:1500]
        return SparseGAMClassifier(device="cuda", max_terms=5).fit(X[rows], y[rows]).model_.to_json()

    device = Device()
    pool = device.xp.get_default_memory_pool()
    memory = []
    start = time.perf_counter()
    for i in range(fits):
        one(i % 10)
        if i + 1 in (10, 100, fits // 2, fits):
            free, total = device.xp.cuda.runtime.memGetInfo()
            memory.append((i + 1, pool.used_bytes(), pool.total_bytes(), total - free))
    seconds = (time.perf_counter() - start) / fits
    print(f"growth: {seconds:.3f} s per fit; (fits, used, in pool, in use on the device): {memory}", flush=True)
    sequential = [one(i) for i in range(10)]
    with ThreadPoolExecutor(2) as threads:
        print(f"same models from two fits at once: {list(threads.map(one, range(10))) == sequential}", flush=True)


def main() -> None:
    """Run the parts and print their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["same", "search", "numpy", "frontier", "interactions", "growth"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7, 10**8, 10**9])
    parser.add_argument("--data", type=Path, help="folder of the FICO and COMPAS tables, for `same`")
    parser.add_argument("--cpu", action="store_true", help="also fit on all CPU cores")
    parser.add_argument("--fits", type=int, default=1000, help="number of fits of `growth`")
    args = parser.parse_args()
    device = Device()
    bandwidth = bandwidth_of(device)
    print(f"{device.name}: copies {bandwidth / 1e12:.2f} TB/s, read and written", flush=True)
    for part in args.parts:
        if part == "same":
            same(args.data)
        if part == "growth":
            growth(args.fits)
        for n_rows in args.rows if part in ("search", "numpy", "frontier", "interactions") else ():
            device.xp.get_default_memory_pool().free_all_blocks()
            if part == "search":
                search(n_rows, cpu=args.cpu, bandwidth=bandwidth)
            elif part in ("numpy", "interactions"):
                from_numpy(n_rows, cpu=args.cpu, interactions="auto" if part == "interactions" else 0)
            else:
                frontiers(n_rows, cpu=args.cpu)


if __name__ == "__main__":
    main()
