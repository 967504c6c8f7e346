"""Tests of counterfactuals: comparison with enumeration, constraints, costs, output and invalid options."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier, SparseGAMRegressor
from sparsegam._data.columns import NUMBER, Scale
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import distribution_of

COLOURS = Scale("category", ("blue", "green", "red"))
BOOLEAN = Scale("boolean")
SPECIAL = -9.0
TIE_WEIGHT = 1e-6


def random_model(rng):
    """Return a random model (steps, ramps, special values, a category, a boolean) with a training distribution."""
    names = [f"x{j}" for j in range(rng.integers(1, 4))]
    terms, scales = [], {}
    for name in names:
        for t in rng.choice(np.arange(1, 9) + 0.5, rng.integers(1, 4), replace=False):
            if rng.random() < 0.4:
                terms.append(Term(name, Condition("ramp", float(t), low=0.25), rng.normal() / 3))
            else:
                terms.append(Term(name, Condition("<=", float(t)), rng.normal()))
        if rng.random() < 0.3:
            terms.append(Term(name, Condition("==", SPECIAL), rng.normal()))
    if rng.random() < 0.7:
        names.append("colour")
        scales["colour"] = COLOURS
        terms += [Term("colour", Condition("==", level), rng.normal()) for level in ("blue", "red")]
    if rng.random() < 0.7:
        names.append("flag")
        scales["flag"] = BOOLEAN
        terms.append(Term("flag", Condition("<=", False), rng.normal()))
    seen = {}
    for name in names:
        scale = scales.get(name, NUMBER)
        numbers = rng.integers(0, 3 if name == "colour" else 2, 50) if name in scales else rng.random(50) * 10
        numbers = np.append(numbers[:-5], [SPECIAL] * 5) if name not in scales else numbers
        conditions = [term.condition for term in terms if term.feature == name]
        special = [SPECIAL] if name not in scales else []
        seen[name] = distribution_of(conditions, special, scale, numbers.astype(float), np.ones(50))
    special = {name: (SPECIAL,) for name in names if name not in scales}
    return Model(
        rng.normal(),
        tuple(terms),
        tuple(names),
        "logistic",
        ("no", "yes"),
        special,
        scales,
        missing="mean",
        distributions=seen,
    )


def random_row(model, rng):
    row = {}
    for name in model.feature_names:
        if name == "colour":
            row[name] = str(rng.choice(COLOURS.levels))
        elif name == "flag":
            row[name] = bool(rng.random() < 0.5)
        else:
            row[name] = SPECIAL if rng.random() < 0.1 else float(np.round(rng.random() * 10, 3))
    return row


def change_cost(model, name, before, after, cost):
    """Return the cost of changing one feature, implemented independently."""
    unordered = name in ("colour", "flag")
    if isinstance(cost, dict):
        return cost[name] * (1.0 if unordered else abs(after - before))
    if before == after:
        passed = 0.0
    elif unordered:
        passed = 1.0
    else:
        seen = model.distributions[name]
        ends, shares = [value for value, _ in seen.upto], [share for _, share in seen.upto]

        def below(x):
            out = shares[0]
            for (low, high), share in zip(itertools.pairwise(ends), shares[1:], strict=True):
                out += share * min(max((x - low) / (high - low), 0.0), 1.0)
            return out

        start = below(before)
        start = shares[0] / 2 if before < ends[0] else start
        start = start + seen.above / 2 if before > ends[-1] else start
        passed = abs(below(after) - start)
    return 0.01 + passed if cost == "share" else 1.0 + TIE_WEIGHT * passed


def pieces(model, name, before, cost, sign):
    """Return (cost, gain) at both ends of each linear piece of a feature."""
    shape = model.shape_functions()[name]
    out = [((0.0, 0.0), (0.0, 0.0))]
    if before == SPECIAL:
        return out
    if name in ("colour", "flag"):
        ends = [(n, n) for n in range(3 if name == "colour" else 2) if n != before]
    else:
        cuts = [-math.inf, *shape.bins.edges.tolist(), math.inf]
        ends = []
        for low, high in itertools.pairwise(cuts):
            first, last = np.nextafter(low, math.inf), high
            inside = [(first, before), (before, last)] if low < before <= high else [(first, last)]
            for a, b in inside:
                a, b = (b, b) if math.isinf(low) else (a, a) if math.isinf(high) else (a, b)
                ends.append((a, b))
    start = shape.at(np.array([float(before)]))[0]
    for pair in ends:
        ends = [
            (change_cost(model, name, before, n, cost), sign * (shape.at(np.array([float(n)]))[0] - start))
            for n in pair
        ]
        out.append(tuple(ends))
    return out


def lowest_cost(parts, need):
    """Return the lowest cost of gaining `need` along given pieces, best rate first; None if it cannot be gained."""
    cheap = [min(part, key=lambda place: place[1]) for part in parts]
    dear = [max(part, key=lambda place: (place[1], -place[0])) for part in parts]
    # An end with lower gain and higher cost than the other end is never optimal.
    cheap = [d if c[0] >= d[0] else c for c, d in zip(cheap, dear, strict=True)]
    cost, gain = sum(c for c, _ in cheap), sum(g for _, g in cheap)
    for c, d in sorted(
        zip(cheap, dear, strict=True), key=lambda two: (two[1][0] - two[0][0]) / (two[1][1] - two[0][1] or 1)
    ):
        if gain >= need:
            break
        share = min(1.0, (need - gain) / (d[1] - c[1])) if d[1] > c[1] else 0.0
        cost, gain = cost + share * (d[0] - c[0]), gain + share * (d[1] - c[1])
    return cost if gain >= need - 1e-12 else None


def enumerated(model, row, goal, fixed, cost):
    """Return the lowest cost over all combinations of pieces."""
    score = float(model.decision_function(pd.DataFrame([row]))[0])
    sign = 1 if goal >= score else -1
    scales = model.scales
    ways = [
        pieces(model, name, scales[name].number(row[name]) if name in scales else row[name], cost, sign)
        if name not in fixed and (not isinstance(cost, dict) or name in cost)
        else [((0.0, 0.0), (0.0, 0.0))]
        for name in model.features
    ]
    found = [lowest_cost(parts, sign * (goal - score)) for parts in itertools.product(*ways)]
    return min((one for one in found if one is not None), default=None)


@pytest.mark.parametrize("seed", range(200))
def test_counterfactual_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng)
    row = random_row(model, rng)
    probability = float(rng.uniform(0.05, 0.95))
    fixed = [name for name in model.feature_names if rng.random() < 0.15]
    units = {name: float(rng.uniform(0.1, 2)) for name in model.feature_names if rng.random() < 0.9}
    cost = ("share", "count", units)[seed % 3]
    best = enumerated(model, row, math.log(probability / (1 - probability)), fixed, cost)
    found = model.counterfactual(row, target=probability, fixed=fixed, cost=cost)
    assert found.found == (best is not None)
    if best is None:
        return
    if cost == "count":
        assert found.cost == len(found.changes) == math.floor(best + 1e-9)
    else:
        assert best - 1e-9 < found.cost < best + 1e-4  # values within ramps are rounded
    changed = pd.DataFrame([row | found.values])
    after = model.predict_proba(changed)[0, 1]
    assert found.new_probability == pytest.approx(after, abs=1e-12)
    assert after >= probability if found.probability <= probability else after <= probability
    assert not set(found.values) & set(fixed)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    n = 800
    frame = pd.DataFrame({"age": rng.integers(18, 80, n), "income": rng.normal(50, 15, n).round(1)})
    frame["job"] = rng.choice(["clerk", "baker", "smith"], n)
    frame["since"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    score = 0.08 * (frame["age"] - 45) - 0.1 * (frame["income"] - 50) + 1.5 * (frame["job"] == "smith")
    score += 1.5 * (frame["since"] <= pd.Timestamp("2020-09-01"))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "bad", "good")
    return frame, SparseGAMClassifier(shapes="both", lambda0=2.0).fit(frame, y).model_


@pytest.fixture(scope="module")
def paired():
    """Return data and a model with interactions that link three features, and with ramps."""
    rng = np.random.default_rng(4)
    n = 900
    frame = pd.DataFrame({name: rng.random(n).round(3) * 10 for name in "abcd"})
    frame["job"] = rng.choice(["clerk", "baker", "smith"], n)
    y = 2.0 * ((frame["a"] > 5) & (frame["b"] <= 4)) + 1.5 * ((frame["b"] > 6) & (frame["c"] > 3))
    y += 0.3 * np.minimum(frame["a"] - 6, 0) + (frame["job"] == "smith") + 1.0 * (frame["d"] <= 2)
    y += 0.2 * np.minimum(frame["d"] - 8, 0) + rng.normal(0, 0.2, n)
    gam = SparseGAMRegressor(max_terms=12, shapes="both", interactions=4, max_bins=24, lambda0=1.0)
    return frame, gam.fit(frame, y).model_


def ends_of_pieces(model, name, before):
    """Return the value of a feature, all ends of its pieces and the values just above them."""
    if name == "job":
        return ["baker", "clerk", "smith"]
    edges = {
        float(term_clause.condition.value)
        for term in model.terms
        for term_clause in term.clauses
        if term_clause.feature == name
    }
    edges |= {float(t.condition.low) for t in model.terms if t.feature == name and t.condition.is_ramp}
    ends = sorted(edges)
    return sorted({before, *ends, *(float(np.nextafter(e, 99)) for e in ends)})


@pytest.mark.parametrize("i", range(10))
def test_counterfactual_is_optimal_with_interactions(paired, i):
    frame, model = paired
    assert len(model.pair_functions()) >= 2
    row = frame.iloc[[i]]
    score = float(model.decision_function(row)[0])
    goal = score + (1.2 if i % 2 else -1.2)
    used = [name for name in frame.columns if name in model.features]
    cost = dict(zip(used, np.random.default_rng(i).uniform(0.1, 2, len(used)).tolist(), strict=True))
    found = model.counterfactual(row, target=goal, cost=cost)
    # No combination of ends of pieces may be cheaper.
    ends = [ends_of_pieces(model, name, row[name].iloc[0]) for name in used]
    grid = pd.DataFrame(itertools.product(*ends), columns=used).reindex(columns=frame.columns)
    grid = grid.fillna({name: row[name].iloc[0] for name in frame.columns})
    enough = model.decision_function(grid) >= goal if goal > score else model.decision_function(grid) <= goal
    costs = sum(
        cost[name] * (grid[name] != row[name].iloc[0] if name == "job" else (grid[name] - row[name].iloc[0]).abs())
        for name in used
    )
    best = costs[enough].min()
    assert found.found or not enough.any()
    if found.found:
        assert found.cost <= best + 1e-6
        changed = row.assign(**{name: [value] for name, value in found.values.items()})
        assert model.decision_function(changed)[0] == pytest.approx(found.new_score, abs=1e-9)
        assert found.new_score >= goal if goal > score else found.new_score <= goal


def test_too_many_combinations_of_linked_features_are_rejected(paired, monkeypatch):
    frame, model = paired
    monkeypatch.setattr("sparsegam.deploy._counterfactual_search.MAX_COMBINATIONS", 3)
    with pytest.raises(ValueError, match="add some of them to fixed"):
        model.counterfactual(frame.iloc[[0]], target=99.0)


def test_counterfactual_accepts_rows_of_several_types(fitted):
    frame, model = fitted
    expected = model.counterfactual(frame.iloc[[0]])
    as_dict = frame.iloc[0].to_dict()
    for row in (as_dict, frame.iloc[0], list(as_dict.values())):
        assert model.counterfactual(row) == expected
    with pytest.raises(ValueError, match="single row, got 2"):
        model.counterfactual(frame.iloc[:2])
    with pytest.raises(ValueError, match="row has 1 values"):
        model.counterfactual([3])


def test_counterfactual_changes_the_predicted_class_and_prints(fitted):
    frame, model = fitted
    for i in range(20):
        row = frame.iloc[[i]]
        found = model.counterfactual(row)
        assert found.found
        changed = row.assign(**{name: [value] for name, value in found.values.items()})
        changed["since"] = pd.to_datetime(changed["since"])
        assert model.predict(changed)[0] != model.predict(row)[0]
        assert str(found).startswith(f"For class {model.predict(changed)[0]}, from ")
        assert len(found.to_frame()) == len(found.changes)
        assert f"{len(found.changes)} changes" in repr(found)
        nothing = model.counterfactual(row, target=model.predict(row)[0])
        assert nothing.changes == ()
        assert nothing.found
        assert "No change is needed" in str(nothing)


def test_integer_features_keep_integer_values(fitted):
    frame, model = fitted
    ages = [model.counterfactual(frame.iloc[[i]], cost={"age": 1.0}).values.get("age") for i in range(30)]
    assert any(age is not None for age in ages)
    assert all(age is None or age == int(age) for age in ages)


def test_counterfactual_respects_fixed_and_directions(fitted):
    frame, model = fitted
    bad = frame[model.predict(frame) == "bad"].iloc[[0]]
    free = model.counterfactual(bad)
    held = model.counterfactual(bad, fixed=list(free.values)[:1])
    assert held.cost > free.cost
    ways = model.counterfactual(bad, directions={"age": "up", "income": "down"})
    assert all(change.after >= change.before for change in ways.changes if change.feature == "age")
    assert all(change.after <= change.before for change in ways.changes if change.feature == "income")
    none = model.counterfactual(bad, fixed=list(frame.columns))
    assert not none.found
    assert "No change reaches class good" in str(none)
    assert none.new_score == none.score


def test_missing_values_are_neither_changed_nor_suggested():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame.loc[::3, "a"] = np.nan
    y = (3 * frame["a"].isna() + (frame["b"] <= 0) + rng.normal(0, 0.3, 600)).to_numpy()
    model = SparseGAMRegressor(max_terms=4).fit(frame, y).model_
    found = model.counterfactual({"a": 1.0, "b": 1.0}, target=3.0)
    assert not found.found
    assert "a" not in model.counterfactual({"a": np.nan, "b": -1.0}, target=2.0).values
    assert str(found).startswith("No change reaches a prediction of at least 3; the closest")


def test_counterfactual_reaches_points_of_a_scorecard(fitted):
    frame, model = fitted
    card = model.scorecard(pdo=20)
    row = frame.iloc[[0]]
    total = int(card.score(row)[0])
    found = card.counterfactual(row, target=total + 15)
    changed = row.assign(**{name: [value] for name, value in found.values.items()})
    changed["since"] = pd.to_datetime(changed["since"])
    assert card.score(changed)[0] == found.new_score >= total + 15
    assert "points" in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": 1.5}, "classes .* or a probability"),
        ({"target": "perhaps"}, "got 'perhaps'"),
        ({"fixed": "age"}, "list of columns"),
        ({"fixed": ["height"]}, "fixed names the column 'height'"),
        ({"directions": {"age": "sideways"}}, "'sideways'"),
        ({"directions": {"job": "up"}}, "a categorical feature, whose levels have no order"),
        ({"cost": {"age": 0}}, "cost\\['age'\\]"),
        ({"cost": "cheap"}, "cost of one unit"),
    ],
)
def test_counterfactual_rejects_invalid_options(fitted, options, words):
    frame, model = fitted
    with pytest.raises(ValueError, match=words):
        model.counterfactual(frame.iloc[[0]], **options)


def test_default_cost_counts_changes_without_training_distribution():
    model = Model(0.5, (Term("a", Condition("<=", 3.0), -1.0),), ("a",), "logistic", (0, 1))
    assert model.counterfactual([5.0]).values == {"a": 3.0}
    assert model.counterfactual([1.0], target=1).values == {"a": 4.0}
    assert model.counterfactual([1.5], target=1).values == {"a": np.nextafter(3.0, 4.0)}
    with pytest.raises(ValueError, match="cost='count'"):
        model.counterfactual([5.0], cost="share")


def test_unchanged_missing_values_are_not_changes():
    """A missing value of a feature in an interaction cannot change and costs nothing."""
    rng = np.random.default_rng(0)
    a, day = rng.integers(0, 10, 1000), rng.integers(0, 10, 1000).astype(float)
    frame = pd.DataFrame({"a": a, "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(day, "D")})
    frame.loc[:199, "day"] = pd.NaT
    odds = 2.0 * (a <= 4) + 3.0 * ((a <= 4) & frame["day"].isna()) - 2.5
    y = rng.random(1000) < 1 / (1 + np.exp(-odds))
    model = SparseGAMClassifier(interactions=[("a", "day")], lambda0=1.0).fit(frame, y).model_
    assert any(term.is_interaction for term in model.terms)
    row = pd.DataFrame({"a": [2], "day": [pd.NaT]})
    found = model.counterfactual(row)
    assert found.found
    assert list(found.values) == ["a"]
    assert found.cost == pytest.approx(model.counterfactual(row, fixed=["day"]).cost)
