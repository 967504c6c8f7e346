"""Features with steps and ramps: bin codes, the corresponding plain columns, labels and weights."""

import numpy as np

from _helpers.reference import ReferenceRows
from sparsegam import _core


class Ramped:
    """Two or more features with steps and ramps."""

    def __init__(self, seed, kinds=((12, 11, 2), (30, 30, 3), (3, 0, 0)), n=300):
        rng = np.random.default_rng(seed)
        self.codes = [rng.integers(0, n_bins, n).astype(np.uint8) for n_bins, _, _ in kinds]
        self.n_bins, self.n_ordered = (np.array([kind[i] for kind in kinds]) for i in (0, 1))
        self.ramps, columns, self.kinds = [], [], []
        for code, (n_bins, n_ordered, every) in zip(self.codes, kinds, strict=True):
            place = np.sort(rng.random(n_ordered)) - 1
            end = np.append((place[1:] + place[:-1]) / 2, 0.0) if n_ordered else place
            knots = np.arange(1, n_ordered, every) if every else np.zeros(0, dtype=np.int64)
            self.ramps.append((place, end, knots) if every else None)
            columns += [code <= b if b < n_ordered else code == b for b in range(n_bins)]
            rows = np.append(place, np.zeros(n_bins - n_ordered))[code]
            columns += [np.where(code <= b, rows - end[b], 0.0) for b in knots]
            self.kinds += ["step"] * n_bins + ["ramp"] * len(knots)
        self.X = np.column_stack(columns).astype(np.float64)
        self.weight = rng.uniform(0.5, 2, n)
        self._label(2 * self.X[:, self.kinds.index("ramp")] + rng.normal(size=n))

    @classmethod
    def valley(cls):
        """Return a problem whose target falls and then rises with the first feature, which needs two ramps."""
        out = cls(3, kinds=((25, 25, 3), (30, 30, 3), (3, 0, 0)))
        place = out.ramps[0][0][out.codes[0]]
        score = 3 * np.abs(place - np.median(place)) + 0.2 * np.random.default_rng(3).normal(size=place.size)
        out._label(score - score.mean())
        return out

    def _label(self, score):
        self.sign, self.target = np.where(score > np.median(score), 1.0, -1.0), score

    def y(self, loss):
        return self.target if loss == "squared" else self.sign

    def rows(self, loss):
        design = _core.ThresholdDesign(self.codes, self.n_bins, self.n_ordered, self.ramps)
        return _core.ThresholdRows(design, self.y(loss), self.weight, loss=loss, n_threads=1)

    def moments(self, loss, point):
        """Return 1'(h x) of each ramp, and the corresponding sums of bin centres for each step; levels have none."""
        _, _, h = ReferenceRows(self.X, self.y(loss), self.weight, loss).at(point)
        out = h @ self.X
        first = 0
        for code, ramps, n_bins, n_ordered in zip(self.codes, self.ramps, self.n_bins, self.n_ordered, strict=True):
            by_bin = np.bincount(code, h, n_bins)[:n_ordered]
            out[first : first + n_bins] = 0.0
            if ramps is not None:
                out[first : first + n_ordered] = np.cumsum(by_bin * ramps[0])
            first += n_bins + (0 if ramps is None else ramps[2].size)
        return out

    def matrix_rows(self, loss):
        return _core.MatrixRows(
            _core.Matrix(np.asfortranarray(self.X)), self.y(loss), self.weight, loss=loss, n_threads=1
        )

    @property
    def is_ramp(self):
        """Return which columns are ramps with data below their knots."""
        return (np.array(self.kinds) == "ramp") & (self.X.std(axis=0) > 0)


def allowing(allowed):
    """Return the penalty with only some columns allowed."""
    p = allowed.size
    return _core.Penalty(
        lambda2=0.01,
        cost=np.ones(p),
        low=np.full(p, -np.inf),
        high=np.full(p, np.inf),
        allowed=allowed,
        group=np.arange(p),
        always=np.zeros(0, dtype=np.int64),
        penalty_scale=None,
    )
