"""Run FasterRisk in a separate environment, as it requires old packages: read an npz file, print a JSON line.

python fasterrisk_worker.py rows.npz SIZE

The file contains X, y and X_test; y is -1 or 1, the columns are 0 or 1.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def main() -> None:
    """Optimise one risk score and print its time, points and test scores."""
    from fasterrisk.fasterrisk import RiskScoreOptimizer

    rows = np.load(sys.argv[1])
    start = time.perf_counter()
    optimizer = RiskScoreOptimizer(X=rows["X"].astype(float), y=rows["y"].astype(float), k=int(sys.argv[2]))
    optimizer.optimize()
    seconds = time.perf_counter() - start
    multiplier, base, points = optimizer.get_models(model_index=0)
    scores = (rows["X_test"] @ points + base) / multiplier
    used = np.flatnonzero(points)
    reply = {"seconds": seconds, "columns": used.tolist(), "points": points[used].tolist(), "scores": scores.tolist()}
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
