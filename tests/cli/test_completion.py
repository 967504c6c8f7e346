"""Completion scripts: what bash answers, and that every command and option is known to fish."""

import shutil
import subprocess

import pytest

from sparsegam._cli.completion import script
from sparsegam._cli.main import new_parser

ASK = '{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _sparsegam; echo "${{COMPREPLY[@]}}"'


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("shell", ["bash"])
@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("sparsegam sc", "scorecard"),
        ("sparsegam --v", "--version"),
        ("sparsegam export model.json --to ja", "javascript"),
        ("sparsegam fit data.csv --tar", "--target"),
        ("sparsegam completion z", "zsh"),
        ("sparsegam fit da", ""),
    ],
)
def test_bash_completes(shell, words, answer):
    at = len(words.split()) - 1
    text = ASK.format(script=script(shell, new_parser()), words=words, at=at)
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == answer


def test_zsh_borrows_the_script_of_bash():
    assert script("zsh", new_parser()).endswith(script("bash", new_parser()))


def test_fish_knows_commands_and_options():
    text = script("fish", new_parser())
    assert "-a fit -d 'fit a model to a table and print it'" in text
    assert "-n '__fish_seen_subcommand_from fit' -l target -s t -r" in text
    assert "-n '__fish_seen_subcommand_from export' -l to -x -a 'sql python" in text
