#!/usr/bin/env bash
# Creates a virtual environment that can compile an extension module, without root: tools/bootstrap.sh .venv [python3]
#
# The standard venv module is tried first. On Debian and Ubuntu, python3 may lack ensurepip (package python3-venv) or
# Python.h (python3-dev). Both are then downloaded with `apt-get download` and unpacked inside the environment. Compiler
# settings for this case are written to <venv>/build.env.
set -euo pipefail

venv=${1:?usage: tools/bootstrap.sh VENV [PYTHON]}
python=${2:-python3}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
die() { printf 'bootstrap: error: %s\n' "$*" >&2; exit 1; }

# Downloads one Debian package and unpacks it into a folder, without root and without existing package lists.
unpack_package() {
    local package=$1 target=$2 scratch
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
    scratch=$(mktemp -d)
    if ! (cd "$scratch" && apt-get download "$package") >/dev/null 2>&1; then
        mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial"
        local private=(-o "Dir::State::lists=$scratch/lists" -o "Dir::Cache=$scratch/cache")
        if ! (cd "$scratch" && apt-get "${private[@]}" update && apt-get "${private[@]}" download "$package") \
            >/dev/null 2>&1; then
            rm -rf "$scratch"
            return 1
        fi
    fi
    mkdir -p "$target"
    dpkg -x "$scratch"/"$package"_*.deb "$target"
    rm -rf "$scratch"
}

make_environment() {
    if "$python" -c 'import ensurepip, venv' 2>/dev/null && "$python" -m venv "$venv"; then
        return
    fi
    say "this Python has no ensurepip; downloading the pip wheel of Debian"
    rm -rf "$venv"
    "$python" -m venv --without-pip "$venv" || die "install the package python3-venv, then run again"
    unpack_package python3-pip-whl "$venv/debian" || die "pip could not be installed: install the package python3-venv and run again"
    local wheel
    wheel=$(echo "$venv"/debian/usr/share/python-wheels/pip-*.whl)
    "$venv/bin/python" "$wheel/pip" install --quiet --no-index "$wheel"
}

find_headers() {
    local version include
    : >"$venv/build.env"
    include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    [ -f "$include/Python.h" ] && return
    version=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "Python.h is missing; downloading libpython$version-dev"
    unpack_package "libpython$version-dev" "$venv/debian" || die "no Python.h: install the package python3-dev, then run again"
    include=$(cd "$venv/debian/usr/include" && pwd)
    [ -f "$include/python$version/Python.h" ] || die "no Python.h: install the package python3-dev, then run again"
    # Debian's pyconfig.h includes <ARCH/pythonX.Y/pyconfig.h>, hence the second path.
    {
        printf 'export CMAKE_ARGS="-DPython_INCLUDE_DIR=%s/python%s ${CMAKE_ARGS:-}"\n' "$include" "$version"
        printf 'export CPLUS_INCLUDE_PATH="%s:%s/python%s${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}"\n' \
            "$include" "$include" "$version"
    } >>"$venv/build.env"
}

command -v "$python" >/dev/null || die "no $python: install the package python3, then run again"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "Python 3.10 or later is needed"
command -v "${CXX:-c++}" >/dev/null || die "no C++ compiler: install the package g++, then run again"
make_environment
find_headers
say "ready: $venv ($("$venv/bin/python" --version))"
