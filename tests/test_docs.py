"""What is written runs: the Python of every page of the docs and of the README, and the examples of every docstring."""

import contextlib
import doctest
import io
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import pytest

import sparsegam

mpl.use("Agg")

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODULES = [
    info.name
    for info in pkgutil.walk_packages(sparsegam.__path__, "sparsegam.")
    if not info.name.endswith(("_core", "__main__"))
]


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.filterwarnings("ignore:Several models have the same number of columns")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    result = doctest.testmod(import_module(name))
    assert result.failed == 0
