"""Examples run: code blocks of the README (those of the docs run when they are built), and docstrings."""

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
    """Import tools/blocks.py."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module("blocks")


def run(tools, text, folder):
    """Run the code blocks of a page and return their outputs."""
    page = tools.Page(folder)
    return [page.run(language, code) for language, code, _ in tools.blocks(text)]


def test_blocks_of_a_page_share_variables_and_folder(tools, tmp_path):
    codes = ("python\nn = open('x.txt', 'w').write('7')", "sh\ncat x.txt", "python\nprint('n is')\nn")
    first, second, third = run(tools, "".join(f"```{code}\n```\n\n" for code in codes), tmp_path)
    assert (first.value, second.text, third.text, third.value) == (None, "7", "n is\n", 1)
    assert [first.error, second.error, third.error] == ["", "", ""]


def test_other_languages_are_not_executed(tools):
    assert list(tools.blocks("```console\n$ rm -r /\n```\n\n```text\nno\n```\n\n```\nnothing\n```\n")) == []


def test_main_reports_failing_blocks(tools, tmp_path, capsys):
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


@pytest.mark.skipif(COMMAND is None, reason="the command sparsegam is not installed for this interpreter")
def test_readme_examples_run(tools, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    outputs = run(tools, text, tmp_path)
    assert [output.error for output in outputs if output.error] == []
    assert outputs[0].text == text.split("```text\n")[1].split("```")[0]  # the README shows the actual output


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_compile(page, tools):
    for language, code, line in tools.blocks(page.read_text(encoding="utf-8")):
        if language == "python":
            compile(code, f"{page.name}:{line}", "exec")


def test_images_have_alternative_texts():
    for page in PAGES:
        assert "![](" not in page.read_text(encoding="utf-8"), page


def test_readme_links_are_absolute():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert targets
    assert all(target.startswith("https://") for target in targets)


def test_api_reference_lists_every_public_name():
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    for name in sparsegam.__all__:
        assert f"~sparsegam.{name}\n" in listed, name


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    result = doctest.testmod(import_module(name))
    assert result.failed == 0
