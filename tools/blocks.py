"""Run the Python and shell code blocks of Markdown pages in order.

    python tools/blocks.py README.md docs/getting_started.md

Blocks marked ```python or ```sh are executed. The blocks of a page share their variables and a folder that is empty at
the start. Blocks marked ```text, ```console and so on are not executed. The documentation displays the results of each
block with the same code. Only the standard library is used, so that a bare installation can be tested.
"""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUN = ("python", "sh")
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Output:
    """The text that a block printed, the value of its last expression, and its error message or ""."""

    text: str = ""
    value: Any = None
    error: str = ""


@dataclass
class Page:
    """The variables and the working folder that the blocks of a page share."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, language: str, code: str) -> Output:
        """Run a block."""
        return self._run_python(code) if language == "python" else self._run_shell(code)

    def _run_python(self, code: str) -> Output:
        printed, output = io.StringIO(), Output()
        with _working_folder(self.folder), _captured(printed):
            try:
                output.value = self._value(code)
            except BaseException:
                output.error = "".join(traceback.format_exc(limit=-4))
        output.text = printed.getvalue()
        return output

    def _value(self, code: str) -> Any:
        """Run the statements and return the value of the last one if it is an expression."""
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "block", "exec"), self.names)
        return None if last is None else eval(compile(ast.Expression(last.value), "block", "eval"), self.names)

    def _run_shell(self, code: str) -> Output:
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", code],
            cwd=self.folder,
            env=os.environ | {"PATH": here, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return Output(done.stdout, error=f"exit code {done.returncode}:\n{done.stdout}" if done.returncode else "")


def blocks(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield language, code and line number of each executable block of a page."""
    for found in BLOCK.finditer(text):
        yield found.group(1), found.group(2), text.count("\n", 0, found.start()) + 1


@contextlib.contextmanager
def _working_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _captured(printed: io.StringIO) -> Iterator[None]:
    """Redirect standard output, standard error and warnings to one text."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        printed.write(textwrap.fill(f"{category.__name__}: {message}", 100) + "\n")

    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        warnings.showwarning = show
        yield


def main(pages: Sequence[str]) -> int:
    """Run the blocks of pages, print a line for each, and return the number of failures."""
    failed = 0
    for name in pages:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(Path(folder))
            for language, code, line in blocks(Path(name).read_text(encoding="utf-8")):
                error = page.run(language, code).error
                failed += bool(error)
                last = error.strip().splitlines()[-1] if error else ""
                print(f"{'failed' if error else 'ok':<6} {name}:{line} ({language}) {last}", flush=True)
    return failed


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    sys.exit(min(main(sys.argv[1:]), 1))
