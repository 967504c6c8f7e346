"""The project metadata: one version everywhere, dependency groups, and links to existing files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
VERSION = re.search(r'^version = "(.+)"$', PYPROJECT, flags=re.MULTILINE).group(1)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("CITATION.cff", "version: {}\n"),
        ("docs/project/citing.md", "version = {{{}}}"),
        ("CHANGELOG.md", "- {}\n"),
    ],
)
def test_version_is_the_same_in_all_files(file, text):
    assert text.format(VERSION) in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_group_script_agrees_with_tomllib():
    import tomllib

    groups = tomllib.loads(PYPROJECT)["dependency-groups"]

    def meant(name):
        own = [entry for entry in groups[name] if isinstance(entry, str)]
        return own + [one for entry in groups[name] if isinstance(entry, dict) for one in meant(entry["include-group"])]

    for name in groups:
        command = [sys.executable, str(ROOT / "tools" / "group.py"), name]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert sorted(printed.split("\n")[:-1]) == sorted(meant(name))


def test_group_script_rejects_unknown_groups():
    command = [sys.executable, str(ROOT / "tools" / "group.py"), "nobody"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no dependency group 'nobody'" in done.stderr


def test_extras_contain_no_development_tools():
    extras = PYPROJECT.split("[project.optional-dependencies]")[1].split("\n[")[0]
    assert not re.search(r"pytest|ruff|sphinx", extras)


def test_repository_links_point_to_existing_files():
    base = "https://github.com/sparsegam/sparsegam/"
    for page in (ROOT / "README.md", ROOT / "pyproject.toml"):
        for kind, path in re.findall(base + r"(blob|tree)/main/([\w./-]+)", page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), (page.name, kind, path)
