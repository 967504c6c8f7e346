"""Data frames split into seven uneven parts, one of them empty, for Dask."""

import dask
import dask.dataframe as dd
import numpy as np

CUTS = [40, 40, 900, 901, 1000, 1900]  # The second part is empty.


def parts_of(frame, cuts=CUTS):
    return [frame.iloc[part] for part in np.split(np.arange(len(frame)), cuts)]


@dask.delayed
def loaded(part):
    """Return a part as the result of a task."""
    return part


def delayed_parts(frame, cuts=CUTS):
    return [loaded(part) for part in parts_of(frame, cuts)]


def frame_of(frame, cuts=CUTS):
    """Return a Dask DataFrame of the parts.

    `from_delayed` is not used, because Dask cannot compute predictions for its frames.
    """
    return dd.from_map(lambda part: part, parts_of(frame, cuts), meta=frame.iloc[:0])
