"""Model cards: all that a reader of the file must know; the same model, the same hash."""

from dataclasses import replace

from _helpers import products

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam.datasets import make_credit
from sparsegam.inspection._model_card import model_hash


def test_card_of_a_classifier():
    data = make_credit(2000)
    gam = SparseGAMClassifier(lambda0=8).fit(data.frame, data.target)
    edited = gam.model_.edit(data.frame, data.target, who="A. Analyst").forbid(gam.model_.features[0], why="a | <b>")
    text = edited.card(data.frame, data.target, settings=gam.get_params(), about={"Intended use": "Teaching."})
    for part in ("# Model card", "Intended use", "AUC", "lambda0", "A. Analyst", model_hash(edited), "a \\| &lt;b>"):
        assert part in text
    assert all(name in text for name in edited.features)
    assert "## Rows of the fit\n\n2000 rows." in text


def test_card_of_a_regression():
    gam = SparseGAMRegressor(lambda0=0.1).fit([[1], [2], [3], [4]], [0.0, 0.0, 6.0, 6.0])
    text = gam.model_.card([[1], [4]], [0.0, 6.0])
    assert "R squared" in text
    assert "| term | adds | standard error | rows | events |" in text
    assert "| x0 &lt;= 2 |" in text
    assert "## Edits\n\nNone." in text
    assert "Rows of the fit" not in replace(gam.model_, intercept=1.0).card()


def test_card_of_ramps():
    ages = [[float(a)] for a in range(20, 80)]
    gam = SparseGAMRegressor(lambda0=0.1, shapes="ramps", lambda2=0.0).fit(
        ages, [min(a - 50.0, 0.0) / 4 for (a,) in ages]
    )
    text = gam.model_.card()
    assert "| x0 | > 20 to 50 | -7.5000 to +0.0000 |" in text
    assert "| min(x0 - 50, 0) | +0.25 per unit |" in text
    assert "In ramps, x0 counts as at least 20." in text


def test_hash_follows_the_model():
    model = SparseGAMRegressor(lambda0=0.1).fit([[1], [2]], [0.0, 6.0]).model_
    assert model_hash(model) == model_hash(Model.from_json(model.to_json()))
    assert model_hash(model) != model_hash(replace(model))  # which forgets the rows of the fit
    assert model_hash(model) != model_hash(replace(model, intercept=1.0))


def test_it_says_what_becomes_of_values_that_only_come_later():
    ages = [[float(a)] for a in range(20, 60)]
    for rule, words in (("mean", "is scored at the mean contribution"), ("error", "is refused"), ("last", "as if no")):
        gam = SparseGAMRegressor(missing=rule).fit(ages, [float(a > 40) for (a,) in ages])
        assert words in gam.model_.card()
        assert "missing: no such row was seen" in gam.model_.card()


def test_card_of_a_model_with_products():
    frame, y = products.table()
    text = products.as_fitted(products.written(), frame, y).card(frame, y)
    assert "age (down) and priors (across) add together:" in text
    assert "| > 40 | +0.0485 | -0.4000 | +0.0000 | +0.0000 |" in text
    assert "| age &lt;= 25 and priors > 3 | +0.9000 |" in text
    assert "| colour | 0.0% | 0.0% |" in text  # of which products alone ask
