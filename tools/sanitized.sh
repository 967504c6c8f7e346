#!/usr/bin/env bash
# Makes an environment in which a package runs under the sanitizers: tools/sanitized.sh FOLDER PYTHON PACKAGE
#
# FOLDER/python is what to run. It finds the package in the folder PACKAGE and everything else where PYTHON has it: folders
# named in a .pth file are searched, but what stands in their own .pth files (our editable package) is not. Python is not
# built with the sanitizers, so their runtime, and that of C++ for its exceptions, is loaded ahead of it; other programs
# that tests start (browsers, databases, Node) must not have it, and some would hang.
set -euo pipefail

folder=$1 python=$2 package=$3
cxx=${CXX:-c++}
preload="$($cxx -print-file-name=libasan.so) $($cxx -print-file-name=libstdc++.so.6)"

rm -rf "$folder"
"$python" -m venv --without-pip "$folder"
site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
borrowed=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$package" "$borrowed" "import sanitized_start" >"$site/sanitized.pth"

cat >"$folder/python" <<END
#!/bin/sh
# Python with the sanitizers' runtime loaded ahead of it.
export LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
exec "$(cd "$folder" && pwd)/bin/python" "\$@"
END
chmod +x "$folder/python"

cat >"$site/sanitized_start.py" <<END
# Runs as Python starts: other programs go without the runtime, other Pythons go the way of this one.
import os, sys
os.environ.pop("LD_PRELOAD", None)
sys.executable = "$(cd "$folder" && pwd)/python"
END
