#!/usr/bin/env bash
# Installs a wheel as its user would: an environment of its own, nothing compiled, nothing besides its dependencies; then runs
# the blocks of pages there: tools/check_wheel.sh FOLDER PYTHON WHEEL PAGE ...
set -euo pipefail

folder=$1 python=$2 wheel=$3
shift 3

rm -rf "$folder"
"$python" -m venv --without-pip "$folder"
# no compiler is to be found, and none is asked for: what has no wheel is refused
CC=false CXX=false "$python" -m pip --disable-pip-version-check --python "$folder/bin/python" \
    install --quiet --only-binary :all: "$wheel"

"$folder/bin/python" - <<'END'
# The environment is as bare as it is meant to be, and the package is that of the wheel.
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
