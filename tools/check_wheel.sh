#!/usr/bin/env bash
# Installs a wheel and its dependencies into an empty environment, without a compiler, and runs the code blocks of pages there: tools/check_wheel.sh FOLDER PYTHON WHEEL PAGE ...
set -euo pipefail

folder=$1 python=$2 wheel=$3
shift 3

rm -rf "$folder"
"$python" -m venv --without-pip "$folder"
# Hide the compiler and refuse packages without a wheel.
CC=false CXX=false "$python" -m pip --disable-pip-version-check --python "$folder/bin/python" \
    install --quiet --only-binary :all: "$wheel"

"$folder/bin/python" - <<'END'
# Check that optional packages are absent and that the package is imported from the wheel.
from importlib.util import find_spec
from pathlib import Path
import sys

import sparsegam

there = [name for name in ("pandas", "polars", "pyarrow", "matplotlib", "dask", "pytest") if find_spec(name)]
assert not there, f"{there} should not be in an environment of the wheel alone"
assert Path(sparsegam.__file__).is_relative_to(sys.prefix), sparsegam.__file__
END
"$folder/bin/sparsegam" --version
"$folder/bin/python" tools/blocks.py "$@"
scratch=$(mktemp -d)
sparsegam=$(cd "$folder/bin" && pwd)/sparsegam
(cd "$scratch" && "$sparsegam" demo >tour.txt && tail -2 tour.txt)
rm -rf "$scratch"
