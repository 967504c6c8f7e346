"""Parameters come from many bases: scikit-learn and readers see them whole, in the order of the docstring."""

import inspect
import re

import pytest
from sklearn.base import clone

import sparsegam
from sparsegam.parameters import documented

ESTIMATORS = [getattr(sparsegam, name) for name in sparsegam.__all__ if name.startswith(("Sparse", "Threshold"))]


def told(kind):
    """The parameters that a docstring tells of."""
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n", inspect.getdoc(kind), flags=re.DOTALL).group(1)
    lines = re.findall(r"^([\w, ]+) : ", section, flags=re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_signature_is_what_the_docstring_tells(kind):
    assert list(inspect.signature(kind).parameters) == told(kind)
    assert sorted(kind().get_params()) == sorted(told(kind))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_survive_a_copy(kind):
    changed = kind(**{name: f"my {name}" for name in told(kind)})
    assert clone(changed).get_params() == {name: f"my {name}" for name in told(kind)}
    assert kind().get_params() != changed.get_params()


def test_a_parameter_nobody_tells_of_is_refused():
    with pytest.raises(ValueError, match="silent"):

        @documented
        class Forgetful:
            """Forgets.

            Parameters
            ----------
            told : int
                This one.
            """

            def __init__(self, told=1, silent=2):
                pass
