"""Tests of model cards and of the hash of a model."""

from dataclasses import replace

from _helpers import products

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam.datasets import make_credit
from sparsegam.inspection._model_card import model_hash


def test_model_card_of_an_edited_classifier():
    data = make_credit(2000)
    gam = SparseGAMClassifier(lambda0=8).fit(data.frame, data.target)
    edited = gam.model_.edit(data.frame, data.target, who="A. Analyst").forbid(gam.model_.features[0], why="a | <b>")
    text = edited.card(data.frame, data.target, settings=gam.get_params(), about={"Intended use": "Teaching."})
    for part in ("# Model card", "Intended use", "AUC", "lambda0", "A. Analyst", model_hash(edited), "a \\| &lt;b>"):
        assert part in text
    assert all(name in text for name in edited.features)
    assert "## Training data\n\n2000 rows." in text


def test_model_card_of_a_regression():
    gam = SparseGAMRegressor(lambda0=0.1).fit([[1], [2], [3], [4]], [0.0, 0.0, 6.0, 6.0])
    text = gam.model_.card([[1], [4]], [0.0, 6.0])
    assert "R squared" in text
    assert "| term | coefficient | standard error | 95 % interval | rows | events |" in text
    assert "| x0 &lt;= 2 |" in text
    assert "## Edits\n\nNone." in text
    assert "Training data" not in gam.model_.with_terms(1.0, gam.model_.terms).card()


def test_model_card_of_ramps():
    ages = [[float(a)] for a in range(20, 80)]
    gam = SparseGAMRegressor(lambda0=0.1, shapes="ramps", lambda2=0.0).fit(
        ages, [min(a - 50.0, 0.0) / 4 for (a,) in ages]
    )
    text = gam.model_.card()
    assert "| x0 | > 20 to 50 | -7.5000 to +0.0000 |" in text
    assert "| min(x0 - 50, 0) | +0.25 per unit |" in text
    assert "In ramps, values of x0 below 20 count as 20." in text


def test_model_hash_depends_on_all_parts_of_the_model():
    model = SparseGAMRegressor(lambda0=0.1).fit([[1], [2]], [0.0, 6.0]).model_
    assert model_hash(model) == model_hash(Model.from_json(model.to_json()))
    assert model_hash(model) != model_hash(replace(model, training=None))  # without the training distribution
    assert model_hash(model) != model_hash(replace(model, intercept=1.0))


def test_model_card_states_the_rule_for_values_absent_from_training():
    ages = [[float(a)] for a in range(20, 60)]
    for rule, words in (
        ("mean", "is scored at the mean contribution"),
        ("error", "raises an error"),
        ("last", "as if no"),
    ):
        gam = SparseGAMRegressor(missing=rule).fit(ages, [float(a > 40) for (a,) in ages])
        assert words in gam.model_.card()
        assert "missing: no training rows" in gam.model_.card()


def test_model_card_of_interactions():
    frame, y = products.table()
    text = products.as_fitted(products.written(), frame, y).card(frame, y)
    assert "Contribution of age (down) and priors (across) together:" in text
    assert "| > 40 | +0.0485 | -0.4000 | +0.0000 | +0.0000 |" in text
    assert "| age &lt;= 25 and priors > 3 | +0.9000 |" in text
    assert "| colour | 0.0% | 0.0% |" in text  # used by interactions only
