"""Fits on tables with text, dates, booleans, missing values and special codes, and on extreme tables."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor, gam_path
from sparsegam._models.terms import Condition

GRADES = ["D", "C", "B", "A"]


def make_columns(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(18, 80, n).astype(float),
        "job": rng.choice(["clerk", "baker", "smith", "nurse"], n),
        "since": np.datetime64("2020-01-01") + rng.integers(0, 1000, n).astype("timedelta64[D]"),
        "owner": rng.random(n) < 0.5,
        "debt": np.where(rng.random(n) < 0.05, -9.0, rng.integers(0, 100, n)),
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2)),
        "grade": rng.choice(GRADES, n),
    }
    f = (
        1.5 * (columns["age"] <= 35)
        + 1.2 * (columns["job"] == "nurse")
        - (columns["since"] <= np.datetime64("2021-03-03"))
    )
    f += 0.8 * columns["owner"] + 2 * (columns["debt"] == -9) + (columns["debt"] > 50)
    f += 1.3 * np.isnan(columns["income"]) - np.isin(columns["grade"], ["A", "B"]) - 1
    return columns, (rng.random(n) < 1 / (1 + np.exp(-f))).astype(int)


@pytest.fixture(scope="module")
def columns():
    return make_columns()


def as_pandas(columns):
    frame = pd.DataFrame({**columns, "since": columns["since"].astype("datetime64[us]")})
    return frame.assign(grade=pd.Categorical(columns["grade"], GRADES, ordered=True))


def as_polars(columns):
    frame = pl.DataFrame({**columns, "since": columns["since"].astype("datetime64[us]")})
    return frame.with_columns(
        grade=pl.Series(columns["grade"], dtype=pl.Enum(GRADES)), income=pl.col("income").fill_nan(None)
    )


@pytest.fixture(scope="module")
def fitted(columns):
    return SparseGAMClassifier(special_values=[-9], lambda0="bic", lambda2=1e-3, min_samples_bin=1).fit(
        as_pandas(columns[0]), columns[1]
    )


def test_fit_uses_columns_of_every_type(fitted):
    conditions = {term.feature: [] for term in fitted.terms_}
    for term in fitted.terms_:
        conditions[term.feature].append(term.condition)
    assert Condition("==", "nurse") in conditions["job"]
    assert Condition("<=", False) in conditions["owner"]
    assert Condition("==", -9.0) in conditions["debt"]
    assert Condition("missing") in conditions["income"]
    assert Condition("<=", "C") in conditions["grade"]
    assert isinstance(conditions["since"][0].value, datetime)
    assert conditions["age"] == [Condition("<=", 35.0)]
    text = fitted.model_.equation()
    for part in ("== nurse]", "is False]", "== -9]", "is missing]", "<= C]", "<= 2021-0"):
        assert part in text


def test_pandas_and_polars_give_the_same_model(columns, fitted):
    polars = SparseGAMClassifier(special_values=[-9], lambda0="bic", lambda2=1e-3, min_samples_bin=1).fit(
        as_polars(columns[0]), columns[1]
    )
    assert polars.model_ == fitted.model_
    np.testing.assert_array_equal(
        polars.predict_proba(as_polars(columns[0])), fitted.predict_proba(as_pandas(columns[0]))
    )
    nullable = as_pandas(columns[0]).astype({"age": "Int64", "owner": "boolean", "income": "Float64"})
    assert (
        SparseGAMClassifier(special_values=[-9], lambda0="bic", lambda2=1e-3, min_samples_bin=1)
        .fit(nullable, columns[1])
        .model_
        == fitted.model_
    )


def test_json_round_trips(columns, fitted):
    again = Model.from_json(fitted.model_.to_json())
    assert again == fitted.model_
    X = as_pandas(columns[0])
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_predict_accepts_a_single_row(columns, fitted, make):
    row = {
        "age": 30,
        "job": "nurse",
        "since": datetime(2020, 5, 5),
        "owner": True,
        "debt": -9,
        "income": None,
        "grade": "B",
    }
    expected = as_pandas({name: np.array([value], dtype=columns[0][name].dtype) for name, value in row.items()})
    found = fitted.predict_proba(make([row]))
    np.testing.assert_array_equal(found, fitted.predict_proba(expected))


def test_new_missing_values_contribute_the_mean(columns, fitted):
    X = as_pandas(columns[0]).head(1)
    with pytest.warns(UserWarning, match="1 row has a missing value in 'age', 1 row has a missing value in 'job'"):
        gone = fitted.decision_function(X.assign(age=np.nan, job=None, owner=None, grade=None, since=pd.NaT))
    parts = dict(zip(fitted.model_.features, fitted.model_.contributions(X)[0], strict=True))
    assert gone[0] == pytest.approx(fitted.model_.baseline() + parts["debt"] + parts["income"])


def test_unseen_levels_cause_one_warning(columns, fitted):
    X = as_pandas(columns[0]).head(5)
    with pytest.warns(
        UserWarning, match=r"2 rows have a new level in 'job', 1 row has a new level in 'grade'"
    ) as caught:
        fitted.predict_proba(
            X.assign(job=["pilot", "nurse", "judge", "clerk", "clerk"], grade=["A", "B", "F", "A", "A"])
        )
    assert len(caught) == 1


def test_new_special_codes_contribute_the_mean():
    X = pd.DataFrame({"x": np.arange(40.0)})
    gam = SparseGAMRegressor(special_values=[-9]).fit(X, (X.x <= 20).astype(float))
    with pytest.warns(UserWarning, match="1 row has a special value in 'x', which did not occur in training"):
        assert gam.predict(pd.DataFrame({"x": [-9.0]})) == pytest.approx(gam.predict(X).mean())
    assert gam.predict(pd.DataFrame({"x": [-8.0]})) != [gam.intercept_]


def test_dates_can_be_special_values_and_thresholds():
    days = [date(2020, 1, 1 + i % 20) for i in range(100)] + [date(9999, 12, 31)] * 10
    y = np.array([float(day > date(2020, 1, 10)) for day in days[:100]] + [9.0] * 10)
    X = pl.DataFrame({"closed": days})
    options = {
        "special_values": {"closed": [date(9999, 12, 31)]},
        "thresholds": {"closed": ["2020-01-10", date(2020, 1, 15)]},
    }
    gam = SparseGAMRegressor(lambda2=0.0, **options).fit(X, y)
    assert [term.condition for term in gam.terms_] == [
        Condition("<=", date(2020, 1, 10)),
        Condition("==", date(9999, 12, 31)),
    ]
    assert Model.from_json(gam.model_.to_json()) == gam.model_
    np.testing.assert_allclose(gam.predict(X), y, atol=1e-6)
    times = X.with_columns(pl.col("closed").cast(pl.Datetime))
    np.testing.assert_array_equal(gam.predict(times), gam.predict(X))


def test_rare_levels_form_one_candidate():
    rng = np.random.default_rng(0)
    city = np.where(np.arange(400) < 300, rng.choice(["Ulm", "Bern"], 400), [f"village {i}" for i in range(400)])
    y = np.where(np.char.startswith(city, "village"), 5.0, 0.0) + rng.normal(scale=0.1, size=400)
    gam = SparseGAMRegressor().fit(pd.DataFrame({"city": city}), y)
    assert len(gam.terms_) == 1
    assert gam.terms_[0].condition.kind == "in"
    assert len(gam.terms_[0].condition.value) == 100
    assert "1[A in 100 levels]" in gam.model_.equation()
    assert Model.from_json(gam.model_.to_json()) == gam.model_
    with pytest.warns(UserWarning, match="1 row has a new level in 'city'"):
        assert gam.predict(pd.DataFrame({"city": ["Paris"]})) == pytest.approx(
            gam.predict(pd.DataFrame({"city": city})).mean()
        )


def test_rows_without_weight_are_ignored(columns):
    X, y = as_pandas(columns[0]), columns[1]
    weight = np.where(X.job == "smith", 0.0, 1.0)
    weighted = SparseGAMClassifier(special_values=[-9], lambda0="bic", lambda2=1e-3, min_samples_bin=1).fit(
        X, y, sample_weight=weight
    )
    absent = SparseGAMClassifier(special_values=[-9], lambda0="bic", lambda2=1e-3, min_samples_bin=1).fit(
        X[X.job != "smith"], y[X.job != "smith"]
    )
    assert weighted.model_ == absent.model_


def test_fit_does_not_depend_on_the_order_of_rows_and_levels(columns):
    X, y = as_pandas(columns[0]), columns[1]
    order = np.random.default_rng(1).permutation(len(y))
    one = SparseGAMClassifier().fit(X.assign(job=pd.Categorical(X.job, ["nurse", "smith", "clerk", "baker"])), y)
    other = SparseGAMClassifier().fit(X.iloc[order], y[order])
    assert [(t.feature, t.condition) for t in one.terms_] == [(t.feature, t.condition) for t in other.terms_]


def test_predict_rejects_columns_of_another_type(columns, fitted):
    X = as_pandas(columns[0]).head(3)
    with pytest.raises(ValueError, match=r"column 'job' contained categories .*'baker'.* now contains numbers"):
        fitted.predict(X.assign(job=[1, 2, 3]))
    with pytest.raises(ValueError, match=r"column 'since' contained times .* now contains categories"):
        fitted.predict(X.assign(since="2020-01-01"))
    with pytest.raises(ValueError, match=r"column 'age' contained numbers .* now contains categories .*'old'"):
        fitted.predict(X.assign(age="old"))


def target(n):
    return np.arange(n) % 2


@pytest.mark.parametrize(
    "column",
    [
        [f"level {i}" for i in range(60_000)],
        np.arange(60_000.0),
        np.full(60_000, np.nan),
        [None] * 60_000,
        np.zeros(60_000),
        ["same"] * 60_000,
        np.where(np.arange(60_000) == 7, np.nan, 3.0),
        np.full(60_000, 1e308),
    ],
    ids=["60000 levels", "60000 numbers", "NaN", "None", "constant", "one level", "one missing value", "huge"],
)
def test_extreme_columns_can_be_fitted(column):
    X = pl.DataFrame({"x": column}, strict=False)
    gam = SparseGAMClassifier().fit(X, target(60_000))
    assert np.isfinite(gam.predict_proba(X)).all()
    everything = SparseGAMClassifier(lambda0=0.0, max_terms=3, min_category_count=1, max_bins=65_535).fit(
        X, target(60_000)
    )
    assert np.isfinite(everything.predict_proba(X)).all()


def test_fit_rejects_invalid_tables():
    with pytest.raises(ValueError, match=r"unique, got \['a'\]"):
        SparseGAMClassifier().fit(pd.DataFrame(np.ones((4, 2)), columns=["a", "a"]), target(4))
    with pytest.raises(ValueError, match="column 'a' mixes types"):
        SparseGAMClassifier().fit(pd.DataFrame({"a": pd.Series([1, "x", 2, "y"], dtype=object)}), target(4))
    with pytest.raises(ValueError, match=r"list of dicts.*DataFrame"):
        SparseGAMClassifier().fit([{"a": 1}, {"a": 2}], target(2))


def test_lists_and_arrays_of_objects_can_be_fitted():
    rows = [[20 + i % 30, "clerk" if i % 3 else "baker"] for i in range(90)]
    y = [float(job == "baker") for _, job in rows]
    for X in (rows, np.array(rows, dtype=object)):
        model = gam_path(X, y, loss="squared", max_terms=2, lambda2=1e-3).at(n_terms=1)
        assert model.terms[0].condition in (Condition("==", "baker"), Condition("==", "clerk"))
        np.testing.assert_allclose(model.predict(X), y, atol=1e-2)


def test_pyarrow_tables_give_the_same_model(columns, fitted):
    table = as_polars(columns[0]).drop("grade").to_arrow()
    assert isinstance(table, pa.Table)
    expected = SparseGAMClassifier().fit(as_polars(columns[0]).drop("grade"), columns[1]).model_
    assert SparseGAMClassifier().fit(table, columns[1]).model_ == expected
