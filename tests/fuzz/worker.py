"""Worker process: reads seeds from standard input, one per line, and writes one result per line."""

from __future__ import annotations

import faulthandler
import json
import sys

from fuzz.running import run_case


def work(settings):
    """Run cases until there are no more seeds; print the traceback of cases that take too long."""
    answers, sys.stdout = sys.stdout, sys.stderr
    faulthandler.enable()
    for line in sys.stdin:
        seed = int(line)
        faulthandler.dump_traceback_later(settings["seconds"] * 0.9, exit=False)
        result = run_case(seed, everything=settings["everything"], only=settings["only"])
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps({"seed": seed, **result}, default=str) + "\n")
        answers.flush()


if __name__ == "__main__":
    work(json.loads(sys.argv[1]))
