"""The options of all commands."""

import argparse
from collections.abc import Callable
from typing import Any, get_args

from sparsegam.choices import ClassLoss, DecimalSign, Dialect, Missing, PointsDirection, PointsMethod, Shape

TEXT_FORMATS = ("sql", "python", "javascript", "pmml", "latex", "json")
BINARY_FORMATS = ("onnx", "excel")
SHELLS = ("bash", "zsh", "fish")
MODEL_HELP = "a model file written by `sparsegam fit --out`"
DATA_HELP = "a CSV (also .gz), Parquet, Feather or Excel file; - reads CSV from standard input"


def new_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(prog="sparsegam", description="Sparse generalized additive models.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _add_fit(_command(commands, "fit", "fit a model to a table and print it"))
    _add_predict(_command(commands, "predict", "score the rows of a table with a model"))
    _add_report(_command(commands, "report", "write a report of a model as an HTML file"))
    _add_path(_command(commands, "path", "print the best model of each size"))
    _add_compare(_command(commands, "compare", "compare with other kinds of models by cross-validation"))
    _add_export(_command(commands, "export", "convert a model to another language or format"))
    _add_scorecard(_command(commands, "scorecard", "convert a model to integer points"))
    _add_drift(_command(commands, "drift", "compare the distribution of new data with the training data"))
    example = _command(commands, "example", "write an example table of simulated loans as CSV")
    example.add_argument("--out", "-o", metavar="FILE", help="write to this file instead of standard output")
    _command(commands, "demo", "demonstrate the package on simulated credit data")
    completion = _command(commands, "completion", "print a script that completes commands and options in a shell")
    completion.add_argument("shell", choices=SHELLS)
    return parser


class _Version(argparse.Action):
    """Print the version, which is imported only if it is requested."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from sparsegam import __version__

        print(f"sparsegam {__version__}")
        parser.exit()


def _command(commands: Any, name: str, help_: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_, description=help_)
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    command.add_argument("--quiet", "-q", action="store_true", help="show no progress bar")
    command.add_argument("--debug", action="store_true", help="print the traceback of errors")
    return command


def _add_fit(command: argparse.ArgumentParser) -> None:
    _add_data_options(command)
    _add_model_options(command)
    size = command.add_mutually_exclusive_group()
    size.add_argument("--terms", type=int, metavar="K", help="return the best model with K terms")
    _add_lambda0(size)
    size.add_argument("--cv", action="store_true", help="choose the number of terms by cross-validation")
    command.add_argument("--out", "-o", metavar="MODEL.json", help="write the model; - writes to standard output")
    command.add_argument("--report", metavar="REPORT.html", help="also write a report")
    command.add_argument("--test", metavar="FILE", help="test data for the metrics of the report")


def _add_predict(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help=MODEL_HELP)
    command.add_argument("data", help=DATA_HELP)
    command.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="columns to copy, such as an id")
    command.add_argument("--out", "-o", metavar="FILE", help="write CSV or Parquet instead of printing")
    _add_encoding(command)


def _add_report(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help=MODEL_HELP)
    _add_data_options(command)
    _add_model_options(command)
    command.add_argument("--test", metavar="FILE", help="test data for the metrics; default: the training data")
    command.add_argument("--out", "-o", default="report.html", metavar="REPORT.html")


def _add_path(command: argparse.ArgumentParser) -> None:
    _add_data_options(command)
    _add_model_options(command)
    command.add_argument("--max-terms", type=int, default=30, metavar="K", help="largest size (default 30)")
    command.add_argument("--models", action="store_true", help="include the models in the output of --json")


def _add_compare(command: argparse.ArgumentParser) -> None:
    _add_data_options(command)
    _add_model_options(command)
    _add_lambda0(command)
    command.add_argument("--folds", type=int, default=5, help="number of folds (default 5)")


def _add_export(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help=MODEL_HELP)
    command.add_argument("--to", choices=(*TEXT_FORMATS, *BINARY_FORMATS), required=True, help="language or format")
    command.add_argument("--out", "-o", metavar="FILE", help="write to this file; required for onnx and excel")
    command.add_argument("--dialect", choices=get_args(Dialect), default="postgresql", help="SQL dialect")
    command.add_argument("--table", default="rows", help="SQL: name of the table to score")
    command.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="SQL: columns to copy")


def _add_scorecard(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help=MODEL_HELP)
    _add_data_options(command)
    command.set_defaults(categorical=[])
    command.add_argument("--method", choices=get_args(PointsMethod), default="pdo", help="kind of points")
    command.add_argument("--pdo", type=float, default=20.0, help="points to double the odds (default 20)")
    command.add_argument("--odds", type=float, default=50.0, help="odds at the base points (default 50)")
    command.add_argument("--base-points", type=float, default=600.0, help="points at these odds (default 600)")
    command.add_argument("--max-points", type=int, default=5, help="--method small: maximum points of a term")
    command.add_argument("--direction", choices=get_args(PointsDirection), help="meaning of high points")
    command.add_argument("--base", choices=("apart", "folded"), default="apart", help="line for the base points")
    command.add_argument("--nonnegative", action="store_true", help="the points of every feature start at zero")
    command.add_argument("--out", "-o", metavar="FILE", help="also write .html, .csv, .xlsx or .json")


def _add_drift(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help=MODEL_HELP)
    command.add_argument("data", help=DATA_HELP)
    command.add_argument("--reference", metavar="FILE", help="compare with this file instead of the training data")
    _add_encoding(command)


def _add_encoding(command: argparse.ArgumentParser) -> None:
    command.add_argument("--encoding", default="utf-8", help="encoding of CSV files (default utf-8)")
    help_ = "decimal sign in CSV files: '.', ',' or auto (default)"
    command.add_argument("--decimal", choices=get_args(DecimalSign), default="auto", help=help_)


def _add_data_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("data", help=DATA_HELP)
    command.add_argument("--target", "-t", required=True, help="the column to predict")
    command.add_argument("--positive", metavar="LABEL", help="the label whose probability is predicted")
    command.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns to exclude")
    command.add_argument("--weight", metavar="COLUMN", help="column of sample weights")
    _add_encoding(command)


def _add_lambda0(command: argparse._ActionsContainer) -> None:
    help_ = "penalty per term: a number, auto (default), aic or bic"
    command.add_argument("--lambda0", type=_number_or("auto", "aic", "bic"), help=help_)


def _add_model_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--loss", choices=get_args(ClassLoss), default="logistic", help="loss of classifiers")
    add("--lambda2", type=_number_or("auto"), default="auto", help="ridge penalty: a number, or auto (default)")
    special = command.add_mutually_exclusive_group()
    help_ = "special codes of any column; pass no value to declare that there are none"
    special.add_argument("--special", nargs="*", type=float, metavar="VALUE", help=help_)
    help_ = "special codes by column"
    special.add_argument(
        "--special-values", nargs="+", type=_special, default=[], metavar="COLUMN=VALUE,...", help=help_
    )
    help_ = "how to score values that no training row had"
    add("--missing", choices=get_args(Missing), default="mean", help=help_)
    add("--categorical", nargs="+", default=[], metavar="COLUMN", help="numeric columns that are categories")
    help_ = "directions of features: increasing or decreasing"
    add("--monotone", nargs="+", type=_direction, default=[], metavar="COLUMN=increasing", help=help_)
    add("--shapes", choices=get_args(Shape), default="steps", help="terms of numeric features")
    help_ = "number of pairs of features that may interact, or auto (default 0)"
    add("--interactions", type=_number_or("auto", whole=True), default=0, metavar="N", help=help_)
    add("--max-features", type=int, metavar="N", help="maximum number of features")
    add("--max-bins", type=int, default=1000, metavar="N", help="maximum number of bins per feature (default 1000)")
    help_ = "minimum number of rows on each side of a step (default auto: 1 %% of the rows, at most 20)"
    add("--min-samples-bin", type=_number_or("auto", whole=True), default="auto", metavar="N", help=help_)
    add("--n-jobs", type=int, metavar="N", help="number of threads (default 1, -1 for all cores)")
    add("--time-limit", type=float, metavar="SECONDS", help="return the best model found in this time")


def _number_or(*words: str, whole: bool = False) -> Callable[[str], float | str]:
    """Return a function that parses a number or one of a few words."""
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
    try:
        return float(text)
    except ValueError:
        return text
