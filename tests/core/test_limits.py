"""Limits on pairs and features, and hierarchies, in searches with interactions among the columns."""

from itertools import combinations

import numpy as np
import pytest
from _helpers.problems import problem_of
from _helpers.reference import refit

from sparsegam import _core

PAIRS = ((0, 1), (2, 3), (1, 2))
N_FEATURES = 4


class Crossed:
    """Four 0/1 features and interactions of three of their pairs; every feature has two bins."""

    def __init__(self, seed, n=200):
        rng = np.random.default_rng(seed)
        main = (rng.random((N_FEATURES, n)) < 0.5).astype(np.uint8)
        low = 1 - main
        interactions = [x[a] & x[b] for a, b in PAIRS for x in (main, low)]
        score = 1.5 * interactions[0] - 1.2 * interactions[3] + 0.4 * main[2] - 0.3
        y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
        codes = [*main, *interactions]
        self.problem = problem_of(codes, y, n_bins=[2] * len(codes), n_ordered=[0] * len(codes))
        of_interaction = np.repeat(np.arange(len(PAIRS)), 2)
        feature = [*range(N_FEATURES), *(N_FEATURES + of_interaction)]
        parents = [*[(-1, -1)] * N_FEATURES, *(PAIRS[pair] for pair in of_interaction)]
        self.group, self.parents = np.repeat(feature, 2), np.repeat(parents, 2, axis=0)
        self.allowed = np.arange(2 * len(codes)) % 2 == 1

    def penalty(self, **rules):
        return self.problem.penalty(1e-3, allowed=self.allowed, group=self.group, parents=self.parents, **rules)

    def holds(self, columns, hierarchy="none", max_per_pair=0, max_groups=0, **_):
        """Return whether a support is within all limits."""
        main = {int(self.group[c]) for c in columns if self.parents[c, 1] < 0}
        interactions = [c for c in columns if self.parents[c, 1] >= 0]
        sources = main | {int(f) for c in interactions for f in self.parents[c]}
        enough = {"none": 0, "weak": 1, "strong": 2}[hierarchy]
        stand = all(sum(f in main for f in self.parents[c]) >= enough for c in interactions)
        most = max(np.bincount(self.group[interactions]), default=0)
        return stand and (not max_per_pair or most <= max_per_pair) and (not max_groups or len(sources) <= max_groups)

    def best(self, size, **rules):
        """Return the lowest objective of all supports of a size within the limits, by enumeration."""
        problem, ridge = self.problem, self.problem.ridge(1e-3)
        supports = [list(s) for s in combinations(np.flatnonzero(self.allowed), size) if self.holds(s, **rules)]
        return min(
            (refit(problem.X[:, s], problem.y, problem.weight, problem.loss, ridge[s])[1] for s in supports),
            default=np.inf,
        )


RULES = [
    {"hierarchy": "weak"},
    {"hierarchy": "strong"},
    {"max_per_pair": 1},
    {"max_groups": 2},
    {"hierarchy": "weak", "max_per_pair": 1, "max_groups": 3},
    {"hierarchy": "strong", "max_per_pair": 1, "max_per_group": 1},
]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_frontier_is_within_the_limits_and_nearly_optimal(rules):
    """With a limit on features, an improvement may need several swaps at once."""
    gaps = []
    for seed in range(4):
        crossed = Crossed(seed)
        points = crossed.problem.frontier(max_terms=5, penalty=crossed.penalty(**rules)).points
        assert len(points) > 3
        for point in points:
            assert crossed.holds(point.columns, **rules)
        gaps += [point.loss + point.ridge - crossed.best(point.columns.size, **rules) for point in points[1:4]]
    assert sum(gap > 1e-5 for gap in gaps) <= 2
    assert max(gaps) < 1


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("certify", [False, True])
def test_fit_at_is_within_the_limits(rules, certify):
    for seed in range(6):
        crossed = Crossed(seed)
        found = crossed.problem.fit_at(0.8, max_terms=8, penalty=crossed.penalty(**rules), certify=certify)
        assert crossed.holds(found.points[-1].columns, **rules)
        if certify:
            assert found.certificate.swap_optimal


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_swap_path_is_within_the_limits(rules, loss):
    for seed in range(4):
        crossed = Crossed(seed)
        problem = crossed.problem
        rows = _core.ThresholdRows(problem.design, problem.y, problem.weight, loss=loss, n_threads=1)
        penalty = crossed.penalty(**rules).with_lambda2(0.0 if loss == "exponential" else 1e-3)
        points, *_ = _core.swap_path(
            rows, penalty, lambda0=np.array([3.0, 1.0, 0.3]), max_terms=8, cuts="none", dynamic=True
        )
        assert points[-1].columns.size > 0
        assert all(crossed.holds(point.columns, **rules) for point in points)


def test_limits_that_are_not_reached_do_not_change_the_frontier():
    crossed = Crossed(1)
    main = crossed.penalty()
    for one, other in zip(
        crossed.problem.frontier(max_terms=6, penalty=main).points,
        crossed.problem.frontier(max_terms=6, penalty=crossed.penalty(max_per_pair=2, max_groups=4)).points,
        strict=True,
    ):
        assert one.loss == other.loss
        assert one.columns.tolist() == other.columns.tolist()


def test_start_or_always_without_required_main_effects_is_rejected():
    crossed = Crossed(0)
    interaction = int(np.flatnonzero(crossed.allowed & (crossed.parents[:, 1] >= 0))[0])
    alone = _core.Point(0.0, np.array([interaction]), np.ones(1))
    penalty = crossed.penalty(hierarchy="weak")
    with pytest.raises(ValueError, match="without the main effects that hierarchy requires"):
        crossed.problem.frontier(max_terms=3, penalty=penalty, start=[alone])
    with pytest.raises(ValueError, match="without the main effects that hierarchy requires"):
        crossed.problem.fit_at(0.5, max_terms=3, penalty=penalty, start=alone)
    with pytest.raises(ValueError, match="an interaction in always requires"):
        crossed.problem.frontier(max_terms=3, penalty=crossed.penalty(hierarchy="weak", always=np.array([interaction])))


def test_penalty_rejects_invalid_parents():
    crossed = Crossed(0)
    parents, last = crossed.parents, len(crossed.group) - 1
    with pytest.raises(ValueError, match="one row per column"):
        crossed.problem.penalty(parents=parents[:-1])
    with pytest.raises(ValueError, match="hierarchy must be 'none', 'weak' or 'strong', got 'total'"):
        crossed.penalty(hierarchy="total")
    for wrong in ((3, 3), (-1, 2), (-5, 2)):
        changed = parents.copy()
        changed[last] = wrong
        with pytest.raises(ValueError, match=f"column {last} is not a valid interaction"):
            crossed.problem.penalty(group=crossed.group, parents=changed)
    # The group of an interaction must not be that of a feature.
    with pytest.raises(ValueError, match="is not a valid interaction"):
        crossed.problem.penalty(group=np.zeros(last + 1, dtype=np.int64), parents=parents)
