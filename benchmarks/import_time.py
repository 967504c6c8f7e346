"""What `import sparsegam` costs, beside the scikit-learn it stands on.

python -m benchmarks.import_time [--rounds 10]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import pandas as pd

from benchmarks import runner
from benchmarks.data import REPOSITORY

STATEMENTS = {
    "numpy": "import numpy",
    "sklearn, what an estimator needs": "import sklearn.base, sklearn.utils.validation",
    "sklearn.linear_model": "import sklearn.linear_model",
    "sparsegam": "import sparsegam",
}
# Optional packages that importing the library must not bring along.
HEAVY = ("pandas", "polars", "matplotlib", "pyarrow", "sklearn.linear_model", "sklearn.model_selection", "scipy.stats")
PROBE = """
import json, sys, time
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
print(json.dumps([seconds, len(sys.modules), [name for name in {heavy!r} if name in sys.modules]]))
"""


def probe(statement: str) -> tuple[float, int, list[str]]:
    """Seconds, number of modules and heavy modules after running an import in a fresh interpreter."""
    code = PROBE.format(statement=statement, heavy=HEAVY)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"{statement!r} failed: {done.stderr.strip().splitlines()[-1]}"
        raise SystemExit(msg)
    return tuple(json.loads(done.stdout))


def measure(rounds: int) -> pd.DataFrame:
    """Alternating rounds, the best of each import; the first round, which fills the disk cache, does not count."""
    rows = []
    for turn in range(rounds + 1):
        for name, statement in STATEMENTS.items():
            seconds, modules, heavy = probe(statement)
            row = {"round": turn, "import": name, "seconds": seconds, "modules": modules, "heavy": " ".join(heavy)}
            rows.append(row)
    table = pd.DataFrame(rows).query("round > 0").groupby("import", sort=False)
    return table.agg(
        best_ms=("seconds", lambda s: 1000 * s.min()),
        median_ms=("seconds", lambda s: 1000 * s.median()),
        modules=("modules", "max"),
        heavy=("heavy", "last"),
    ).reset_index()


def main() -> None:
    """Measure, print, write results/import_time.csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    table = measure(parser.parse_args().rounds)
    print(table.to_string(index=False, float_format="{:.1f}".format))
    runner.save("import_time.csv", table)


if __name__ == "__main__":
    main()
