"""Entry point of the command line: `sparsegam fit`, `predict`, `report` and so on; see `sparsegam --help`."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence

from sparsegam._cli.parser import BINARY_FORMATS, new_parser

OK, FAILED, INTERRUPTED = 0, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command and its options. The default is `sys.argv[1:]`.

    Returns
    -------
    int
        The exit code: 0 for success, 1 if the command failed, 2 for invalid usage, 130 after Ctrl-C.
    """
    options = new_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _print_warning
            return _run(options)
    except KeyboardInterrupt:
        return _fail("stopped", INTERRUPTED)
    except BrokenPipeError:
        # The program that reads the output has ended, which is not an error (`sparsegam ... | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except MemoryError:
        return _fail("not enough memory: use a sample of the rows or fewer columns", FAILED)
    except Exception as error:
        if options.debug:
            raise
        return _fail(_one_line(error), FAILED)


def _run(options: argparse.Namespace) -> int:
    if options.command == "demo":
        from sparsegam._cli.demo import main as demo

        demo()
        return OK
    from sparsegam._cli.commands import COMMANDS

    result = COMMANDS[options.command](options)
    for note in result.notes:
        _print_note(note)
    text = json.dumps(result.data, ensure_ascii=False) if options.json else result.text
    print(text, file=sys.stderr if _writes_file_to_stdout(options) else sys.stdout)
    sys.stdout.flush()
    return OK


def _writes_file_to_stdout(options: argparse.Namespace) -> bool:
    """Return whether standard output receives a file, so that other text has to go to standard error."""
    writes_file = options.command in ("fit", "report") or getattr(options, "to", None) in BINARY_FORMATS
    return writes_file and "-" in (getattr(options, "out", None), getattr(options, "report", None))


def _fail(text: str, code: int) -> int:
    print(f"sparsegam: {text}", file=sys.stderr)
    return code


def _print_note(text: str) -> None:
    print(f"sparsegam: note: {text}", file=sys.stderr)


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    _print_note(" ".join(str(message).split()))


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, ValueError | TypeError | OSError | ImportError | ArithmeticError):
        return text
    return f"this is a bug: {type(error).__name__}: {text} (use --debug to see the traceback)"


if __name__ == "__main__":
    sys.exit(main())
