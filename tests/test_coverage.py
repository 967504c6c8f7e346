"""Coverage of the intervals of terms, with the simulation of the benchmark."""

import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
if not (REPOSITORY / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this checkout", allow_module_level=True)
sys.path.insert(0, str(REPOSITORY))
from benchmarks.coverage import term_coverage  # noqa: E402


@pytest.mark.parametrize("kind", ["logistic", "squared"])
def test_intervals_of_given_steps_cover_the_true_coefficients(kind):
    """Check the coverage of 400 intervals (standard error 1 %); that of Wald intervals with the ridge is 77 to 87 %."""
    covered = term_coverage(kind, 300, "auto", 200)[0]
    assert 0.92 <= covered <= 0.98
