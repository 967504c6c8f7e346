"""Scales convert values to numbers and back, and columns convert between scales."""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsegam._data.columns import BOOLEAN, DATE, DATETIME, NUMBER, UNSEEN, Column, Scale, from_objects, text

GRADES = Scale("ordered", ("lo", "mid", "hi"))


@given(st.dates())
def test_dates_round_trip(day):
    assert DATE.value(DATE.number(day)) == day
    assert DATE.number(day.isoformat()) == DATE.number(day)


@given(st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)))
def test_times_round_trip(time):
    assert DATETIME.value(DATETIME.number(time)) == time
    elsewhere = time.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(hours=9)))
    assert DATETIME.number(elsewhere) == DATETIME.number(time)


@pytest.mark.parametrize(
    ("scale", "value"),
    [(NUMBER, 2.5), (BOOLEAN, True), (BOOLEAN, False), (GRADES, "mid"), (Scale("category", (1, 2)), 2)],
)
def test_values_of_other_scales_round_trip(scale, value):
    assert scale.value(scale.number(value)) == value


@pytest.mark.parametrize(
    ("scale", "value"),
    [(NUMBER, "1"), (NUMBER, np.nan), (NUMBER, None), (DATE, 3), (DATE, "soon"), (GRADES, "none"), (DATETIME, np.inf)],
)
def test_number_rejects_values_of_another_type(scale, value):
    assert not scale.holds(value)
    with pytest.raises((ValueError, TypeError)):
        scale.number(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (63.0, "63"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (True, "True"),
        ("clerk", "clerk"),
        (date(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
    ],
)
def test_text_formats_values(value, expected):
    assert text(value) == expected


def test_on_scale_matches_levels_by_name():
    column = from_objects(["hi", "lo", "top", None], "grade")
    np.testing.assert_array_equal(column.on_scale(GRADES), [2, 0, UNSEEN, np.nan])


def test_on_scale_converts_numbers_to_levels():
    column = Column("code", NUMBER, np.array([3.0, 1.0, np.nan, 7.0]))
    np.testing.assert_array_equal(column.on_scale(Scale("category", (1, 3))), [1, 0, np.nan, UNSEEN])


def test_on_scale_converts_between_dates_and_times():
    day, time = DATE.number(date(2020, 1, 2)), DATETIME.number(datetime(2020, 1, 2))
    assert Column("d", DATE, np.array([day])).on_scale(DATETIME) == time
    assert Column("d", DATETIME, np.array([time])).on_scale(DATE) == day


def test_missing_values_are_on_every_scale():
    column = Column("x", NUMBER, np.array([np.nan]))
    for scale in (GRADES, DATE, BOOLEAN):
        assert np.isnan(column.on_scale(scale)).all()


def test_as_category_rejects_dates():
    with pytest.raises(ValueError, match="column 'd' contains dates, which are ordered"):
        Column("d", DATE, np.zeros(1)).as_category()


@pytest.mark.parametrize(
    ("fitted", "now", "words"),
    [
        (
            (501, 502),
            ("20001", "7"),
            r"categories that are numbers .*now contains categories that are text.*to numbers",
        ),
        (("501", "502"), (20001, 7), r"categories that are text .*now contains categories that are numbers.*to text"),
    ],
)
def test_on_scale_names_text_and_numbers_of_categories(fitted, now, words):
    column = Column("x", Scale("category", now), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match=words):
        column.on_scale(Scale("category", fitted))
