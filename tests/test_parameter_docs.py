"""Parameters of the public estimators and path functions: documented with their defaults, and alike where shared."""

import inspect
import re

import pytest
from sklearn.base import clone

import sparsegam
from sparsegam._fit import spec

ESTIMATORS = [getattr(sparsegam, name) for name in sparsegam.__all__ if name.startswith(("Sparse", "Threshold"))]
FUNCTIONS = [sparsegam.gam_path, sparsegam.linear_path]
OWN_BASES = {"_AdditiveEstimator", "_LinearEstimator"}

# Texts that differ on purpose: between classifiers and regressors, estimators and paths, additive and linear models, or
# between one value and a list to choose from.
DIFFERENT = {"loss", "lambda0", "lambda2", "max_terms", "shapes", "interactions", "standardize", "positive"}


def documented(thing):
    """Return the entries of the section Parameters: name -> (type and default, text)."""
    text = re.search(r"\nParameters\n-+\n(.*?)\n\n(?=\S+[\w ]*\n-+\n)", inspect.getdoc(thing), re.DOTALL).group(1)
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]
    found = {}
    for entry in entries:
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            found[name] = kind.strip(), " ".join(body.split())
    return found


@pytest.mark.parametrize("thing", [*ESTIMATORS, *FUNCTIONS], ids=lambda thing: thing.__name__)
def test_every_parameter_is_documented_in_order_with_its_default(thing):
    parameters = inspect.signature(thing).parameters
    entries = documented(thing)
    assert list(entries) == list(parameters)
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty:
            continue
        default = entries[name][0].rpartition("default=")[2]
        assert eval(default) == parameter.default, name


@pytest.mark.parametrize("thing", [*ESTIMATORS, *FUNCTIONS], ids=lambda thing: thing.__name__)
def test_docstrings_have_no_placeholders_and_are_written_in_the_source(thing):
    assert not re.search(r"\{\w+\}", inspect.getdoc(thing))
    assert inspect.cleandoc(thing.__doc__).splitlines()[0] in inspect.getsource(thing)


def test_parameters_of_the_same_name_have_the_same_text():
    texts = {}
    for thing in [kind for kind in ESTIMATORS if kind is not sparsegam.ThresholdBinner] + FUNCTIONS:
        for name, (_, text) in documented(thing).items():
            if name not in DIFFERENT | {"X", "y"}:
                texts.setdefault(name, {}).setdefault(text, []).append(thing.__name__)
    assert {name: found for name, found in texts.items() if len(found) > 1} == {}


@pytest.mark.parametrize("kind", [*ESTIMATORS, *FUNCTIONS], ids=lambda thing: thing.__name__)
def test_defaults_are_those_of_the_fit_options(kind):
    factory = spec.linear_spec if "inear" in kind.__name__ else spec.additive_spec
    known = inspect.signature(factory).parameters
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in known and name != "max_terms":
            assert parameter.default == known[name].default, name
    selection = inspect.signature(spec.SizeSelection).parameters
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in selection and (name, "Linear" in kind.__name__) != ("rule", True):
            assert parameter.default == selection[name].default, name


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_parameters_survive_a_copy(kind):
    names = list(inspect.signature(kind).parameters)
    assert sorted(kind().get_params()) == sorted(names)
    changed = kind(**{name: f"my {name}" for name in names})
    assert clone(changed).get_params() == {name: f"my {name}" for name in names}


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_estimators_have_few_base_classes(kind):
    own = [base.__name__ for base in kind.__mro__[1:] if base.__module__.startswith("sparsegam")]
    assert set(own) <= OWN_BASES
    # ThresholdBinner has no base class of its own, but two of scikit-learn's for transformers.
    assert len(kind.__mro__) <= 7 + (kind is sparsegam.ThresholdBinner)


@pytest.mark.parametrize("name", ["Classifier", "Regressor", "ClassifierCV", "RegressorCV"])
def test_dask_estimators_have_the_parameters_of_the_local_ones(name):
    pytest.importorskip("distributed")
    from sparsegam import dask

    kind, local = getattr(dask, f"DaskSparseGAM{name}"), getattr(sparsegam, f"SparseGAM{name}")
    client, *others = inspect.signature(kind).parameters.values()
    assert client.name == "client"
    assert {one.name: one.default for one in others} == {
        one.name: one.default for one in inspect.signature(local).parameters.values()
    }
    assert len(kind.__mro__) <= 7
