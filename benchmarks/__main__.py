"""Run all studies, or one: `python -m benchmarks [NAME] [options of the study]`. The names are in STUDIES."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.data import REPOSITORY

STUDIES = (
    "import_time",
    "fico",
    "scaling",
    "linear",
    "tables",
    "deploying",
    "threads",
    "stability",
    "newrows",
    "compat",
)


def run(study: str, options: list[str]) -> int:
    """Run one study as a separate program and return its exit status."""
    print(f"\n== {study}", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{study}", *options]
    return subprocess.run(command, cwd=REPOSITORY, check=False).returncode


def main() -> None:
    """Run the named study, or all of them; a study that cannot run does not stop the others."""
    first, *rest = sys.argv[1:] or [""]
    if first and first not in STUDIES:
        msg = f"{__doc__}\nunknown study {first!r}; choose from {', '.join(STUDIES)}"
        raise SystemExit(msg)
    raise SystemExit(max([run(study, rest) for study in ([first] if first else STUDIES)]))


if __name__ == "__main__":
    main()
