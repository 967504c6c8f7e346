"""The tree is what ARCHITECTURE.md says: every file is told of, and knows only what stands before it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sparsegam"
TOLD = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Python")[2].partition("## Tests")[0]
FOLDERS = re.findall(r"^\| `(\w+)/` \|", TOLD, flags=re.MULTILINE)
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" and path.parent != PACKAGE)
NOT_FOLDERS = 12


def row_of(folder):
    (row,) = re.findall(rf"^\| `{folder}/` \|(.*)$", TOLD, flags=re.MULTILINE)
    return row


def imports_when_loaded(path):
    """Modules that a file imports by itself: not those its functions load when called, nor those for type checkers."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sparsegam."):
            yield node.module.split(".")[1:]


def test_every_folder_is_told_of():
    assert sorted(FOLDERS) == sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_file_knows_only_what_stands_before_it(path):
    folder = path.relative_to(PACKAGE).parts[0]
    row = row_of(folder)
    for module, *file in imports_when_loaded(path):
        if module in FOLDERS:
            assert FOLDERS.index(module) <= FOLDERS.index(folder)
        if module == folder and file and f"`{path.stem}`" in row:
            assert row.index(f"`{file[-1]}`") < row.index(f"`{path.stem}`")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_file_is_told_of(path):
    row = row_of(path.relative_to(PACKAGE).parts[0])
    assert f"`{path.stem}`" in row or "a file" in row or path.parent.name == "datasets"


def test_the_root_is_small_and_knows_no_folder():
    entries = [path for path in PACKAGE.iterdir() if path.is_file()]
    assert len(entries) <= NOT_FOLDERS
    for path in entries:
        if path.suffix == ".py" and path.name not in ("__init__.py", "__main__.py"):
            assert not {module for module, *_ in imports_when_loaded(path)} & set(FOLDERS)
