"""The pieces of shape functions: words, contributions and counts."""

import numpy as np

from sparsegam._data.columns import Scale
from sparsegam._models.pieces import importance, pieces_of
from sparsegam._models.seen import Seen
from sparsegam._models.shapes import shape_of
from sparsegam._models.terms import Condition, Term

X = np.array([1.0, 3.0, 4.0, 7.0, 9.0, -9.0, np.nan])


def term(kind, value, coef):
    return Term("x", Condition(kind, value), coef)


def test_steps_specials_and_missing():
    terms = [term("<=", 3.0, 1.0), term("<=", 7.0, 2.0), term("==", -9.0, 5.0), term("missing", None, -1.0)]
    pieces = pieces_of(shape_of(terms, special_values=[-9.0]), X)
    assert [(p.label, p.contribution, p.count) for p in pieces] == [
        ("≤ 3", 3.0, 2),
        ("3 < x ≤ 7", 2.0, 2),
        ("> 7", 0.0, 1),
        ("= -9", 5.0, 1),
        ("missing", -1.0, 1),
    ]


def test_counts_add_up_to_the_rows():
    shape = shape_of([term("<=", 4.0, 1.0)])
    assert sum(p.count for p in pieces_of(shape, X)) == X.size
    assert all(p.count is None for p in pieces_of(shape))


def test_levels():
    scale = Scale("category", ("a", "b", "c"))
    shape = shape_of([term("in", ("a", "c"), 2.0)], scale=scale)
    pieces = pieces_of(shape, np.array([0.0, 1.0, 1.0, 2.0, -1.0]))
    assert [(p.label, p.contribution, p.count) for p in pieces] == [
        ("a", 2.0, 1),
        ("c", 2.0, 1),
        ("any other level", 0.0, 3),
    ]


def test_what_no_row_had_is_told_but_not_drawn():
    seen = Seen(upto=((4.0, 0.5),), above=0.3, alone=((-9.0, 0.2),))
    shape = shape_of([term("<=", 4.0, 1.0)], [-9.0, -8.0], seen=seen).with_new_at(0.5)
    pieces = pieces_of(shape, X[:-1])
    assert [(p.label, p.contribution, p.is_worth_drawing) for p in pieces[2:]] == [
        ("= -9", 0.0, True),
        ("= -8: no such row was seen", 0.5, False),
        ("missing: no such row was seen", 0.5, False),
    ]
    assert pieces_of(shape, X)[-1].is_worth_drawing
    levels = shape_of([term("==", "a", 2.0)], (), Scale("category", ("a", "b")), Seen(alone=(("a", 0.5), ("b", 0.5))))
    pieces = pieces_of(levels.with_new_at(1.0).moved(-1.0), np.array([0.0, 1.0, 1.0, -1.0]))
    assert [(p.label, p.contribution, p.count) for p in pieces] == [
        ("a", 1.0, 1),
        ("any other level", -1.0, 2),
        ("a new level: no such row was seen", 0.0, 1),
        ("missing: no such row was seen", 0.0, 0),
    ]


def test_importance_is_the_mean_distance_from_the_mean():
    assert importance(shape_of([term("<=", 4.0, 2.0)]).at(np.array([1.0, 9.0]))) == 1.0
