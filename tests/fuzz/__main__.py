"""Run random cases of the public API in worker processes. The exit code is 1 if any case fails."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from fuzz.fleet import Settings, run_all  # noqa: E402
from fuzz.known import KNOWN_CASE_FAILURES, KNOWN_PROPERTY_FAILURES  # noqa: E402
from fuzz.running import describe  # noqa: E402

# Seeds reserved for each value of --seed.
SEEDS_PER_RUN = 1_000_000


def main() -> int:
    """Run the cases given on the command line and print a summary."""
    arguments = _parser().parse_args()
    settings = Settings(arguments.seconds, arguments.everything or arguments.case is not None, arguments.only)
    seeds = (
        [arguments.case]
        if arguments.case is not None
        else range(arguments.seed * SEEDS_PER_RUN, arguments.seed * SEEDS_PER_RUN + arguments.cases)
    )
    if arguments.case is not None:
        print(describe(arguments.case))
    tally = Tally()
    started = time.monotonic()
    run_all(seeds, arguments.workers, settings, tally.add)
    print(tally.summary(time.monotonic() - started))
    if not settings.everything:
        print(_skipped())
    return 1 if tally.failures else 0


def _skipped():
    """Return a text that lists the known failures that this run skipped."""
    cases = {function.__name__: function.__doc__ for function in KNOWN_CASE_FAILURES}
    lines = [f"  {name}: {reason}" for name, reason in (KNOWN_PROPERTY_FAILURES | cases).items()]
    return "\n".join(["known failures, skipped (--everything includes them):", *lines]) if lines else ""


def _parser():
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="number of cases (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="selects another set of cases")
    parser.add_argument("--case", type=int, metavar="SEED", help="repeat and describe one case with all properties")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit per case (default 60)")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--only", nargs="+", metavar="PROPERTY", help="properties to check")
    parser.add_argument("--everything", action="store_true", help="include known failures")
    return parser


class Tally:
    """Count cases and checks, and print failures as they occur."""

    def __init__(self):
        self.kinds, self.checked, self.failed = Counter(), Counter(), Counter()
        self.failures = []
        self.slowest = (0.0, -1)

    def add(self, result):
        self.kinds[result["kind"]] += 1
        self.checked.update(result["checked"])
        self.slowest = max(self.slowest, (result["seconds"], result["seed"]))
        for name, message in result["failed"]:
            self.failed[name] += 1
            self.failures.append((result["seed"], name, message))
            print(f"case {result['seed']}: {name}: {message}", flush=True)
            if result["kind"] == "lost" and result["note"].strip():
                print("    " + result["note"].strip().replace("\n", "\n    "), flush=True)

    def summary(self, seconds):
        time, seed = self.slowest
        lines = ["", f"{sum(self.kinds.values())} cases in {seconds:.0f} s; slowest case: {seed} ({time:.1f} s)"]
        lines += [f"  {count:6d}  {kind}" for kind, count in sorted(self.kinds.items())]
        lines += ["properties: checked, failed"]
        names = sorted({*self.checked, *self.failed})
        lines += [f"  {self.checked[name]:6d} {self.failed[name]:5d}  {name}" for name in names]
        lines += [f"{len(self.failures)} failures" + ("; to repeat one:" if self.failures else "")]
        lines += [f"  python tests/fuzz --case {seed}  # {name}" for seed, name, _ in sorted(self.failures)[:50]]
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
