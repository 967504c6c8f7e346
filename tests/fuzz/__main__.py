"""`python tests/fuzz`: random cases of everything public, in processes of their own. Exits with 1 on any failure."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from fuzz.fleet import Settings, run_all  # noqa: E402
from fuzz.known import CASES_TO_COME, PROPERTIES_TO_COME  # noqa: E402
from fuzz.running import describe  # noqa: E402

RUN = 1_000_000  # seeds of one run; the next number of --seed starts after them


def main() -> int:
    given = _parser().parse_args()
    settings = Settings(given.seconds, given.everything or given.case is not None, given.only)
    seeds = [given.case] if given.case is not None else range(given.seed * RUN, given.seed * RUN + given.cases)
    if given.case is not None:
        print(describe(given.case))
    tally = Tally()
    began = time.monotonic()
    run_all(seeds, given.workers, settings, tally.hear)
    print(tally.summary(time.monotonic() - began))
    if not settings.everything:
        print(_left_out())
    return 1 if tally.failures else 0


def _left_out():
    """What a run did not ask for, so that nobody takes it for tested."""
    cases = {function.__name__: function.__doc__ for function in CASES_TO_COME}
    told = [f"  {name}: {why}" for name, why in (PROPERTIES_TO_COME | cases).items()]
    return "\n".join(["left out, as it does not hold yet (--everything runs it):", *told]) if told else ""


def _parser():
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="which: another number, other cases")
    parser.add_argument("--case", type=int, metavar="SEED", help="run one case again, with every property, and show it")
    parser.add_argument("--seconds", type=float, default=60.0, help="that a case may take (default 60)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--only", nargs="+", metavar="PROPERTY", help="properties to ask for")
    parser.add_argument("--everything", action="store_true", help="also what is known not to hold yet")
    return parser


class Tally:
    """Counts of what was run and checked, and the failures, told as they come."""

    def __init__(self):
        self.kinds, self.checked, self.failed = Counter(), Counter(), Counter()
        self.failures = []
        self.slowest = (0.0, -1)

    def hear(self, result):
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
        lines = ["", f"{sum(self.kinds.values())} cases in {seconds:.0f} s; the slowest, {self.slowest[1]}, took"]
        lines[-1] += f" {self.slowest[0]:.1f} s"
        lines += [f"  {count:6d}  {kind}" for kind, count in sorted(self.kinds.items())]
        lines += ["properties: checked, failed"]
        names = sorted({*self.checked, *self.failed})
        lines += [f"  {self.checked[name]:6d} {self.failed[name]:5d}  {name}" for name in names]
        lines += [f"{len(self.failures)} failures" + ("; run one again with:" if self.failures else "")]
        lines += [f"  python tests/fuzz --case {seed}  # {name}" for seed, name, _ in sorted(self.failures)[:50]]
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
