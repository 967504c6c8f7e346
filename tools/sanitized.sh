#!/usr/bin/env bash
# Creates an environment that runs a package with the sanitizers: tools/sanitized.sh FOLDER PYTHON PACKAGE
#
# FOLDER/python is the interpreter to run. It imports the package from the folder PACKAGE and everything else from the
# environment of PYTHON: directories listed in a .pth file are searched, but their own .pth files (our editable install) are
# not processed. Python itself is not built with the sanitizers, so their runtime and the C++ runtime are preloaded. Other
# programs that tests start (browsers, databases, Node) must run without the preloaded libraries; some would hang.
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
# Python with the sanitizer runtime preloaded.
export LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
exec "$(cd "$folder" && pwd)/bin/python" "\$@"
END
chmod +x "$folder/python"

cat >"$site/sanitized_start.py" <<END
# Runs at interpreter start: child programs run without the preloaded libraries, child Pythons with them.
import os, sys
os.environ.pop("LD_PRELOAD", None)
sys.executable = "$(cd "$folder" && pwd)/python"
END
