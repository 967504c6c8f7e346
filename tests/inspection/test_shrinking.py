"""Models without their terms, one by one: near the best of their size, and where a frontier may start."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMRegressor
from sparsegam._search.path import Path
from sparsegam.inspection._alternatives import alternatives, objective_of
from sparsegam.inspection._shrinking import shrunk
from sparsegam.report._data import Dataset, Fit, ReportData


@pytest.fixture(scope="module")
def material():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 15, (500, 5)).astype(float), columns=list("abcde"))
    y = 2.0 * (frame["a"] <= 5) - 1.5 * (frame["b"] <= 3) + 0.7 * (frame["c"] <= 9) + rng.normal(size=500)
    gam = SparseGAMRegressor(max_terms=6, lambda0=0.1, lambda2=0.001).fit(frame, y)
    return ReportData(gam.model_, "t", Dataset.read(frame, y), fit=Fit(gam.get_params()))


def test_the_first_to_go_costs_least(material):
    problem, model = material.problem, material.model
    found = shrunk(problem, model)
    assert [len(point.columns) for point in found.points] == list(range(model.n_terms + 1))
    costs = [a.drop_cost for a in alternatives(problem, model, material.spec.designs[0].rules)]
    kept = problem.design.model(found.points[-2], model.loss, None)
    assert {t.condition for t in model.terms} - {t.condition for t in kept.terms} == {
        model.terms[int(np.argmin(costs))].condition
    }
    assert objective_of(problem, kept) == pytest.approx(objective_of(problem, model) + min(costs), rel=1e-9)


def test_a_frontier_starts_from_them(material):
    full = Path.search(material.problem, None)
    quick = Path.search(material.problem, None, rough=True, start=shrunk(material.problem, material.model))
    assert quick.n_terms.tolist() == full.n_terms.tolist()
    np.testing.assert_allclose(quick.objective, full.objective, rtol=0.02)
    assert quick.objective[material.model.n_terms] <= objective_of(material.problem, material.model) * (1 + 1e-9)
    assert quick.models[3].evidence is None
