"""Performance in groups of rows against the same measures of the rows alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from sparsegam import SparseGAMClassifier, SparseGAMRegressor
from sparsegam.inspection._subgroups import subgroups


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.integers(0, 9, 600), "sex": rng.choice(["f", "m"], 600)})
    frame.loc[::50, "a"] = np.nan
    y = np.where(frame["a"].fillna(0) + 0.2 * frame["b"] + rng.normal(size=600) > 1, "yes", "no")
    return frame, y


def test_a_group_is_measured_as_if_it_were_alone(rows):
    frame, y = rows
    model = SparseGAMClassifier(max_terms=4).fit(frame, y).model_
    found = subgroups(model, frame, y, ["sex", "a"], threshold=0.4)
    assert [(line.name, line.level) for line in found.lines[:2]] == [("sex", "f"), ("sex", "m")]
    mine = (frame["sex"] == "m").to_numpy()
    risk, upper = model.predict_proba(frame)[mine, 1], y[mine] == "yes"
    line = found.lines[1]
    assert line.rows == mine.sum()
    assert line.observed == upper.mean()
    assert line.predicted == pytest.approx(risk.mean())
    assert line.worth == pytest.approx(metrics.roc_auc_score(upper, risk))
    assert line.low < line.worth < line.high
    assert line.sensitivity == pytest.approx(metrics.recall_score(upper, risk > 0.4))
    assert line.specificity == pytest.approx(metrics.recall_score(~upper, risk <= 0.4))
    ranges = [line for line in found.lines if line.name == "a"]
    assert [line.level for line in ranges][-1] == "missing"
    assert len(ranges) == 5
    assert sum(line.rows for line in ranges) == len(frame)
    assert len(found.to_frame()) == len(found.lines)
    assert "specificity" in str(found)


def test_groups_may_come_from_outside(rows):
    frame, y = rows
    target = (y == "yes") + frame["b"].to_numpy()
    model = SparseGAMRegressor(max_terms=4).fit(frame, target).model_
    side = np.where(np.arange(600) < 200, "first", "second")
    found = subgroups(model, frame, target, {"side": side})
    assert [line.rows for line in found.lines] == [200, 400]
    expected = metrics.r2_score(target[:200], model.predict(frame.iloc[:200]))
    assert found.lines[0].worth == pytest.approx(expected)
    assert "called" not in str(found)


def test_one_class_has_no_area_and_wrong_groups_are_refused(rows):
    frame, y = rows
    model = SparseGAMClassifier(max_terms=2).fit(frame, y).model_
    found = subgroups(model, frame, y, {"label": y})
    assert np.isnan(found.lines[0].worth)
    assert " - " in str(found)
    with pytest.raises(ValueError, match="list of columns"):
        subgroups(model, frame, y, "sex")
    with pytest.raises(ValueError, match="600 rows"):
        subgroups(model, frame, y, {"side": [1, 2]})
    with pytest.raises(ValueError, match="names the column 'age'"):
        subgroups(model, frame, y, ["age"])
