"""Measure the time of `import sparsegam`, relative to the parts of scikit-learn that it imports.

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
    "sklearn base classes and validation": "import sklearn.base, sklearn.utils.validation",
    "sklearn.linear_model": "import sklearn.linear_model",
    "sparsegam": "import sparsegam",
}
# Packages that `import sparsegam` must not import.
HEAVY = ("pandas", "polars", "matplotlib", "pyarrow", "sklearn.linear_model", "sklearn.model_selection", "scipy.stats")
PROBE = """
import json, sys, time
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
print(json.dumps([seconds, len(sys.modules), [name for name in {heavy!r} if name in sys.modules]]))
"""


def probe(statement: str) -> tuple[float, int, list[str]]:
    """Run an import in a fresh interpreter; return its seconds, number of modules and heavy modules."""
    code = PROBE.format(statement=statement, heavy=HEAVY)
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if process.returncode:
        msg = f"{statement!r} failed: {process.stderr.strip().splitlines()[-1]}"
        raise SystemExit(msg)
    return tuple(json.loads(process.stdout))


def measure(rounds: int) -> pd.DataFrame:
    """Time all imports in turn; the first round, which fills the disk cache, is discarded."""
    rows = []
    for round_ in range(rounds + 1):
        for name, statement in STATEMENTS.items():
            seconds, modules, heavy = probe(statement)
            row = {"round": round_, "import": name, "seconds": seconds, "modules": modules, "heavy": " ".join(heavy)}
            rows.append(row)
    table = pd.DataFrame(rows).query("round > 0").groupby("import", sort=False)
    return table.agg(
        best_ms=("seconds", lambda s: 1000 * s.min()),
        median_ms=("seconds", lambda s: 1000 * s.median()),
        modules=("modules", "max"),
        heavy=("heavy", "last"),
    ).reset_index()


def main() -> None:
    """Run the imports, print the times and write results/import_time.csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    table = measure(parser.parse_args().rounds)
    print(table.to_string(index=False, float_format="{:.1f}".format))
    runner.save("import_time.csv", table)


if __name__ == "__main__":
    main()
