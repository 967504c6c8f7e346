"""Equations as text: ramps say where their feature is held from below."""

import pytest

from sparsegam import Model
from sparsegam._models.terms import Condition, Term


def equation(*terms):
    return Model(1.0, terms, ("age",), "squared").equation()


def ramp(coef, knot, low=21.0):
    return Term("age", Condition("ramp", knot, low), coef)


def test_equation_of_a_ramp():
    assert equation(ramp(-0.031, 75.0)) == "prediction = 1\n    -0.031 x min(A - 75, 0)  # A: age, at least 21"


@pytest.mark.parametrize(("threshold", "words"), [(30.0, "at least 21"), (18.0, "at least 21 in ramps")])
def test_equation_applies_the_lower_limit_to_ramps_only_with_steps_below_it(threshold, words):
    assert equation(Term("age", Condition("<=", threshold), 0.5), ramp(-0.031, 75.0)).endswith(f"# A: age, {words}")


def test_equation_writes_differing_lower_limits_per_ramp():
    text = equation(ramp(-0.031, 75.0), ramp(2.0, -3.0, low=-5.0))
    assert "-0.031 x min(max(A, 21) - 75, 0) +2 x min(max(A, -5) + 3, 0)" in text
    assert text.endswith("# A: age")


def test_equation_of_steps_has_no_lower_limits():
    assert equation(Term("age", Condition("<=", 30.0), 0.5)).endswith("1[A <= 30]  # A: age")


def test_summary_of_a_ramp_has_its_slope():
    lines = Model(1.0, (ramp(-0.0000312, 75.0),), ("age",), "squared").summary().splitlines()
    assert lines[-1].split() == ["age", "min(x", "-", "75,", "0)", "-3.12e-05", "per", "unit"]
