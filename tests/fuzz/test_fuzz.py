"""A short pass of random cases, and what the rest relies on: a case is its seed, and lost workers are noticed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzz import fleet
from fuzz.cases import draw_case

ROOT = Path(__file__).parents[2]


def run(*arguments):
    command = [sys.executable, "tests/fuzz", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_nothing_crashes_hangs_or_lies():
    done = run("--cases", "150", "--seconds", "100", "--workers", str(min(os.cpu_count() or 1, 2)))
    assert done.returncode == 0, done.stdout + done.stderr


# A search from a point that was never evaluated, where any finite value counted as better, and went on for ever; refits
# of scores so large that the curvature was gone, the same.
@pytest.mark.parametrize("seed", [72004958, 84030863])
def test_what_once_failed(seed):
    done = run("--case", str(seed))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("seed", range(30))
def test_a_case_is_its_seed(seed):
    one, two = draw_case(seed), draw_case(seed)
    assert one.describe() == two.describe()
    for a, b in zip(one.columns, two.columns, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(one.y, two.y)


@pytest.mark.parametrize(
    ("program", "property_", "said"),
    [
        ("import sys, os; sys.stdin.readline(); os.abort()", "no_crash", "SIGABRT"),
        ("import sys; sys.stdin.readline(); sys.exit(3)", "no_crash", "exit code 3"),
        ("import time; time.sleep(60)", "no_hang", "more than 0.5 s"),
    ],
)
def test_a_lost_worker_is_noticed(monkeypatch, program, property_, said):
    monkeypatch.setattr(fleet, "START", 0)
    monkeypatch.setattr(fleet, "command", lambda settings: [sys.executable, "-c", program])
    heard = []
    fleet.run_all([7], 1, fleet.Settings(seconds=0.5 if property_ == "no_hang" else 30), heard.append)
    (result,) = heard
    assert result["seed"] == 7
    ((name, message),) = result["failed"]
    assert name == property_
    assert said in message
