"""The command line: `sparsegam fit`, `predict`, `report`, `path` and so on; `sparsegam --help` lists them."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sparsegam._cli.deploy import BINARY, add_completion, add_drift, add_example, add_export, add_predict, add_scorecard

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `sparsegam`; those of the shell by default.

    Returns
    -------
    int
        The exit code: 0, 1 where the command failed, 2 where it was not understood, 130 after Ctrl-C.
    """
    options = new_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _note_warning
            return _run(options)
    except KeyboardInterrupt:
        return _fail("stopped", INTERRUPTED)
    except BrokenPipeError:  # who reads our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except MemoryError:
        return _fail("not enough memory: take a sample of the rows, or fewer columns", FAILED)
    except Exception as error:
        if options.debug:
            raise
        return _fail(_one_line(error), FAILED)


def _run(options: argparse.Namespace) -> int:
    if options.command == "demo":
        from sparsegam._cli.demo import main as demo

        demo()
        return OK
    from sparsegam._cli import commands

    run: Callable[[argparse.Namespace], Any] = getattr(commands, f"run_{options.command}")
    answer = run(options)
    for note in answer.notes:
        _note(note)
    text = json.dumps(answer.data, ensure_ascii=False) if options.json else answer.text
    print(text, file=sys.stderr if _pours_a_file(options) else sys.stdout)
    sys.stdout.flush()
    return OK


def _pours_a_file(options: argparse.Namespace) -> bool:
    """Tell whether the standard output holds a file, so that words must go elsewhere."""
    written = options.command in ("fit", "report") or getattr(options, "to", None) in BINARY
    return written and "-" in (getattr(options, "out", None), getattr(options, "report", None))


def new_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(prog="sparsegam", description="Sparse additive models that a person can read.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    fit = _command(commands, "fit", "fit a model to a table and print it")
    _data_options(fit)
    _search_options(fit)
    size = fit.add_mutually_exclusive_group()
    size.add_argument("--terms", type=int, metavar="K", help="the best model with K terms")
    _price_option(size)
    size.add_argument("--cv", action="store_true", help="choose the number of terms by cross-validation")
    fit.add_argument("--out", "-o", metavar="MODEL.json", help="write the model; - writes it to the standard output")
    fit.add_argument("--report", metavar="REPORT.html", help="write a report too")
    fit.add_argument("--test", metavar="FILE", help="rows for the report to measure on")
    add_predict(partial(_command, commands))
    report = _command(commands, "report", "write a report on a model: one HTML file")
    report.add_argument("model", help="a model that `fit --out` wrote")
    _data_options(report)
    _search_options(report)
    report.add_argument("--test", metavar="FILE", help="rows to measure on; else those of the data")
    report.add_argument("--out", "-o", default="report.html", metavar="REPORT.html")
    path = _command(commands, "path", "the best model of each size")
    _data_options(path)
    _search_options(path)
    path.add_argument("--max-terms", type=int, default=30, metavar="K")
    path.add_argument("--models", action="store_true", help="with --json, the models themselves too")
    compare = _command(commands, "compare", "other kinds of models on the same folds")
    _data_options(compare)
    _search_options(compare)
    _price_option(compare)
    compare.add_argument("--folds", type=int, default=5)
    add_export(partial(_command, commands))
    add_scorecard(partial(_command, commands), _data_options)
    add_drift(partial(_command, commands))
    add_example(partial(_command, commands))
    _command(commands, "demo", "a tour on simulated credit data")
    add_completion(partial(_command, commands))
    return parser


class _Version(argparse.Action):
    """Prints the version, which is looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from sparsegam import __version__

        print(f"sparsegam {__version__}")
        parser.exit()


def _command(commands: Any, name: str, help_: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_, description=help_)
    command.add_argument("--json", action="store_true", help="print JSON, for machines")
    command.add_argument("--quiet", "-q", action="store_true", help="no progress bar")
    command.add_argument("--debug", action="store_true", help="show where an error came from")
    return command


def _data_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("data", help="CSV, Parquet, Feather or Excel, also .gz; - is CSV from the standard input")
    command.add_argument("--target", "-t", required=True, help="the column to be predicted")
    command.add_argument("--positive", metavar="LABEL", help="the label whose probability is wanted")
    command.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns to leave out")
    command.add_argument("--weight", metavar="COLUMN", help="the column that says how much each row counts")
    command.add_argument("--encoding", default="utf-8", help="of a CSV file (default utf-8)")


def _price_option(command: argparse._ActionsContainer) -> None:
    words = "price of a term: a number, auto (default), aic or bic"
    command.add_argument("--lambda0", type=_number_or("auto", "aic", "bic"), help=words)


def _search_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--loss", choices=("logistic", "exponential"), default="logistic", help="of classes")
    command.add_argument(
        "--lambda2", type=_number_or("auto"), default="auto", help="ridge: a number, or auto (default)"
    )
    special = command.add_mutually_exclusive_group()
    special.add_argument(
        "--special", nargs="*", type=float, metavar="VALUE", help="codes out of the order; none says there are none"
    )
    special.add_argument(
        "--special-values", nargs="+", type=_special, default=[], metavar="COLUMN=VALUE,...", help="the same by column"
    )
    command.add_argument(
        "--missing",
        choices=("mean", "error", "last"),
        default="mean",
        help="how values are scored that no row of the data has",
    )
    command.add_argument("--categorical", nargs="+", default=[], metavar="COLUMN", help="numbers that are categories")
    command.add_argument(
        "--monotone", nargs="+", type=_direction, default=[], metavar="COLUMN=increasing", help="directions"
    )
    command.add_argument("--shapes", choices=("steps", "ramps", "both"), default="steps", help="of numbers")
    command.add_argument(
        "--interactions",
        type=_number_or("auto", whole=True),
        default=0,
        metavar="N",
        help="pairs of columns that may have products, or auto",
    )
    command.add_argument("--max-features", type=int, metavar="N")
    command.add_argument("--max-bins", type=int, default=1000, metavar="N")
    command.add_argument(
        "--min-samples-bin",
        type=_number_or("auto", whole=True),
        default="auto",
        metavar="N",
        help="rows that a step must hold and fail for, and bins hold (default auto: one in a hundred, 20 at most)",
    )
    command.add_argument("--n-jobs", type=int, metavar="N", help="threads (default 1, -1 is all)")
    command.add_argument("--time-limit", type=float, metavar="SECONDS")


def _number_or(*words: str, whole: bool = False) -> Callable[[str], float | str]:
    """Return what reads a number, or one of a few words."""
    kind, name = (int, "a whole number") if whole else (float, "a number")

    def read(text: str) -> float | str:
        try:
            return text if text in words else kind(text)
        except ValueError:
            *others, last = (name, *words)
            msg = f"must be {', '.join(others)} or {last}, got {text!r}"
            raise argparse.ArgumentTypeError(msg) from None

    return read


def _direction(text: str) -> tuple[str, str]:
    name, equals, direction = text.rpartition("=")
    if not equals or direction not in ("increasing", "decreasing"):
        msg = f"must be COLUMN=increasing or COLUMN=decreasing, got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return name, direction


def _special(text: str) -> tuple[str, list[float | str]]:
    name, equals, values = text.rpartition("=")
    if not equals or not name or not all(values.split(",")):
        msg = f"must be COLUMN=VALUE or COLUMN=VALUE,VALUE,..., got {text!r}"
        raise argparse.ArgumentTypeError(msg)
    return name, [_number_or_text(value) for value in values.split(",")]


def _number_or_text(text: str) -> float | str:
    """Return a number where a text is one; dates go by their text."""
    try:
        return float(text)
    except ValueError:
        return text


def _fail(text: str, code: int) -> int:
    print(f"sparsegam: {text}", file=sys.stderr)
    return code


def _note(text: str) -> None:
    print(f"sparsegam: note: {text}", file=sys.stderr)


def _note_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _note(" ".join(str(message).split()))


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, ValueError | TypeError | OSError | ImportError | ArithmeticError):
        return text
    return f"this is a bug: {type(error).__name__}: {text} (--debug shows where)"


if __name__ == "__main__":
    sys.exit(main())
