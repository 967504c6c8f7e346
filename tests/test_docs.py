"""What is written runs: blocks of pages (here the README; the docs run theirs when they are built), and docstrings."""

import doctest
import os
import pkgutil
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

import sparsegam

ROOT = Path(__file__).parents[1]
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "generated" not in path.parts]
MODULES = [
    info.name
    for info in pkgutil.walk_packages(sparsegam.__path__, "sparsegam.")
    if not info.name.endswith(("_core", "__main__"))
]


COMMAND = shutil.which("sparsegam", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def tools(monkeypatch):
    """The module that runs blocks, which stands beside the package."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module("blocks")


def run(tools, text, folder):
    """Run the blocks of a page; return what each gave."""
    page = tools.Page(folder)
    return [page.run(language, code) for language, code, _ in tools.blocks(text)]


def test_blocks_of_a_page_share_names_and_folder(tools, tmp_path):
    codes = ("python\nn = open('x.txt', 'w').write('7')", "sh\ncat x.txt", "python\nprint('n is')\nn")
    first, second, third = run(tools, "".join(f"```{code}\n```\n\n" for code in codes), tmp_path)
    assert (first.value, second.text, third.text, third.value) == (None, "7", "n is\n", 1)
    assert [first.error, second.error, third.error] == ["", "", ""]


def test_other_blocks_are_for_reading(tools):
    assert list(tools.blocks("```console\n$ rm -r /\n```\n\n```text\nno\n```\n\n```\nnothing\n```\n")) == []


def test_failures_are_told(tools, tmp_path, capsys):
    text = (
        "```python\n1 / 0\n```\n\n```sh\nfalse | true\n```\n\n```python\nimport warnings; warnings.warn('look')\n```\n"
    )
    division, pipe, warning = run(tools, text, tmp_path)
    assert "ZeroDivisionError" in division.error
    assert pipe.error.startswith("exit code 1")
    assert warning.text == "UserWarning: look\n"
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert tools.main([str(page)]) == 2
    assert f"failed {page}:1 (python) ZeroDivisionError: division by zero" in capsys.readouterr().out


@pytest.mark.skipif(COMMAND is None, reason="the command sparsegam is not installed beside this interpreter")
def test_blocks_of_the_readme_run(tools, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    outputs = run(tools, text, tmp_path)
    assert [output.error for output in outputs if output.error] == []
    assert outputs[0].text == text.split("```text\n")[1].split("```")[0]  # what it says that is printed


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_of_a_page_is_python(page, tools):
    for language, code, line in tools.blocks(page.read_text(encoding="utf-8")):
        if language == "python":
            compile(code, f"{page.name}:{line}", "exec")


def test_pictures_of_pages_have_words():
    for page in PAGES:
        assert "![](" not in page.read_text(encoding="utf-8"), page


def test_links_of_the_readme_are_absolute():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert targets
    assert all(target.startswith("https://") for target in targets)


def test_every_public_name_has_a_page():
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    for name in sparsegam.__all__:
        assert f"~sparsegam.{name}\n" in listed, name


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    result = doctest.testmod(import_module(name))
    assert result.failed == 0
