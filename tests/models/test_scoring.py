"""Labels are matched with the classes of the model."""

import numpy as np
import pytest

from sparsegam import Model
from sparsegam._models.scoring import events, positives, target_of

CLASSIFIER = Model(0.0, (), ("x",), "logistic", classes=(np.str_("bad"), np.str_("good")))
REGRESSION = Model(0.0, (), ("x",), "squared")


def test_labels_are_those_of_the_second_class_or_not():
    assert positives(CLASSIFIER, ["good", "bad"]).tolist() == [True, False]
    assert target_of(CLASSIFIER, ["good", "bad"], 2).tolist() == [1.0, -1.0]
    assert target_of(REGRESSION, [2, 3], 2).tolist() == [2.0, 3.0]


def test_unknown_labels_are_rejected():
    with pytest.raises(ValueError, match="classes of the model"):
        positives(CLASSIFIER, np.array(["good", "ugly"]))


def test_a_regression_has_no_events():
    with pytest.raises(ValueError, match="a classification model is required"):
        positives(REGRESSION, [1.0])


def test_every_row_has_an_outcome():
    with pytest.raises(ValueError, match="same number of rows"):
        events(CLASSIFIER, ["good"], 2)
