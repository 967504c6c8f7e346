"""Rerun the experiments of the paper: `python -m benchmarks.paper [figure ...] [--quick] [--data PATH] [--resume]`."""

from __future__ import annotations

import argparse
import time

from benchmarks.paper import check, figures, models
from benchmarks.paper.cells import FIGURES, Scale
from benchmarks.paper.runner import PAPER, Worker, run

MODELS = "models"
CHECK = "check"
PARTS = (*FIGURES, MODELS, CHECK)
# Figures of the paper that are drawn by the part of another figure.
SAME = {"fig9": "fig4", **dict.fromkeys(("fig10", "fig11", "fig12", "fig13"), MODELS)}


def main() -> None:
    """Run the named figures, or all of them, draw them and check the claims."""
    options = _options()
    start, worker = time.perf_counter(), Worker(options.data)
    for figure in dict.fromkeys(SAME.get(name, name) for name in options.figures or PARTS):
        print(f"== {figure}", flush=True)
        if figure == MODELS:
            models.run(options.data, quick=options.quick)
        elif figure == CHECK:
            check.report()
        else:
            cells, again = FIGURES[figure](Scale(options.quick)), tuple(options.again)
            table = run(figure, cells, worker, resume=options.resume or bool(again), again=again)
            figures.draw(figure, table)
    worker.close()
    print(f"{time.perf_counter() - start:.0f} s; tables and figures are under {PAPER}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="figure", help=f"some of {', '.join([*PARTS, *SAME])}")
    parser.add_argument(
        "--quick", action="store_true", help="run fewer folds and values of lambda0 (minutes instead of hours)"
    )
    parser.add_argument("--data", help="folder of the real tables (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--resume", action="store_true", help="keep the cells that an earlier run finished")
    parser.add_argument(
        "--again",
        nargs="+",
        default=[],
        metavar="METHOD",
        help="like --resume, but run the cells of these methods again",
    )
    options = parser.parse_args()
    unknown = set(options.figures) - {*PARTS, *SAME}
    if unknown:
        parser.error(f"unknown figure {sorted(unknown)}; choose from {', '.join([*PARTS, *SAME])}")
    return options


if __name__ == "__main__":
    main()
