"""A table in seven uneven parts, one of them empty, as Dask takes them."""

import dask
import dask.dataframe as dd
import numpy as np

CUTS = [40, 40, 900, 901, 1000, 1900]  # seven parts, the second of them empty


def parts_of(frame, cuts=CUTS):
    return [frame.iloc[part] for part in np.split(np.arange(len(frame)), cuts)]


@dask.delayed
def loaded(part):
    """A part as if a task had read it."""
    return part


def delayed_parts(frame, cuts=CUTS):
    return [loaded(part) for part in parts_of(frame, cuts)]


def frame_of(frame, cuts=CUTS):
    """A Dask DataFrame of the parts (predictions for those of `from_delayed` cannot be computed: Dask's own graph)."""
    return dd.from_map(lambda part: part, parts_of(frame, cuts), meta=frame.iloc[:0])
