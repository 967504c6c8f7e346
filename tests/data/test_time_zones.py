"""Times with and without a time zone are never compared."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from sparsegam import Model, SparseGAMClassifier
from sparsegam._data.columns import from_objects

ZONE = timezone(timedelta(hours=-5))
NAIVE = [datetime(2020, 1, 1) + timedelta(hours=i) for i in range(120)]
TIMES = {
    "naive": NAIVE,
    "aware": [time.replace(tzinfo=ZONE) for time in NAIVE],
    "date": [(datetime(2020, 1, 1) + timedelta(days=i)).date() for i in range(120)],
}
Y = np.arange(120) > 60


def frame(package, times):
    if package == "array":
        return np.array([[time] for time in times], dtype=object)
    module = pytest.importorskip(package)
    return module.table({"t": times}) if package == "pyarrow" else module.DataFrame({"t": times})


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "array"])
@pytest.mark.parametrize("fitted", TIMES)
def test_times_of_the_other_kind_are_rejected_by_name(package, fitted):
    gam = SparseGAMClassifier(lambda0=1.0).fit(frame(package, TIMES[fitted]), Y)
    assert gam.n_terms_ > 0
    loaded = Model.from_json(gam.model_.to_json())
    assert loaded == gam.model_
    for kind, times in TIMES.items():
        for model in (gam, loaded):
            if (kind == "aware") == (fitted == "aware"):
                model.predict(frame(package, times))
            else:
                with pytest.raises(ValueError, match=r"column '(t|x0)' contained .* a time zone"):
                    model.predict(frame(package, times))


def test_aware_times_of_another_zone_are_converted():
    gam = SparseGAMClassifier(lambda0=1.0).fit(frame("pandas", TIMES["aware"]), Y)
    utc = [time.astimezone(timezone.utc) for time in TIMES["aware"]]
    np.testing.assert_array_equal(gam.predict(frame("pandas", utc)), gam.predict(frame("pandas", TIMES["aware"])))


def test_missing_values_fit_to_either():
    column = from_objects([None, None], "t")
    for times in TIMES.values():
        assert np.isnan(column.on_scale(from_objects(times, "t").scale)).all()
