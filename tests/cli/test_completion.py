"""Completion scripts of bash, zsh and fish."""

import shutil
import subprocess

import pytest

from sparsegam._cli.completion import completion_script
from sparsegam._cli.parser import new_parser

COMPLETE = '{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _sparsegam; echo "${{COMPREPLY[@]}}"'


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
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
    text = COMPLETE.format(script=completion_script(shell, new_parser()), words=words, at=at)
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == answer


def test_zsh_uses_the_script_of_bash():
    assert completion_script("zsh", new_parser()).endswith(completion_script("bash", new_parser()))


def test_fish_lists_commands_and_options():
    text = completion_script("fish", new_parser())
    assert "-a fit -d 'fit a model to a table and print it'" in text
    assert "-n '__fish_seen_subcommand_from fit' -l target -s t -r" in text
    assert "-n '__fish_seen_subcommand_from export' -l to -x -a 'sql python" in text
