"""Sums over rows by column: histograms of channels, of one feature or of two, and Gram matrices from joint counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsegam._backends.cuda.codes import CardCodes, padded
from sparsegam._backends.cuda.questions import (
    CELL,
    NEAR_BINS,
    NOTHING,
    Carried,
    Cells,
    Channels,
    Columns,
    PairTables,
    gram_jobs,
    groups_of,
    packed,
    words_of,
)
from sparsegam.arrays import FloatArray

COARSE, FINE = 25, 29  # bits of the largest number: for scans, which predict, and for what must be exact
THREADS = 512  # of a block that sums by bin
LEAST_ROWS = 4 * THREADS  # of a block
BLOCKS = 16  # for each processor, so that none waits long for the last
COLUMN_THREADS = 256  # of a block that makes columns of bins
JOBS = 3  # joint counts of a block: 98 KB of shared memory
JOINT_CELLS = 4096
SMALL_BYTES = 72_000  # of shared memory that a block has for copies of its sums: three blocks share a processor
RESERVED = 1024  # bytes of shared memory that the driver keeps to itself


class Sums:
    """Sums over the rows of a design.

    Parameters
    ----------
    codes : CardCodes
        The design.
    """

    def __init__(self, codes: CardCodes) -> None:
        self.codes, self.card, self.stride = codes, codes.card, padded(codes.n_rows)
        every = np.arange(codes.n_bins.size)
        with self.card:
            sent = Channels([NOTHING]).send(self.card, codes.n_rows, self.stride, COARSE)
            sums = self._by_bin(Channels([NOTHING]), sent, every, COARSE)
            codes.bin_rows[...] = sums.view(np.int64)

    def by_column(self, channels: Channels, features: Columns, precision: int) -> FloatArray:
        """Sum channels over the rows of each column of some features.

        Returns a row for each column, feature after feature, with the sum of each channel; where there are ramps, the
        last one is their own square under the second channel, and the moment of a step.
        """
        codes, card, xp = self.codes, self.card, self.card.xp
        sent = channels.send(card, codes.n_rows, self.stride, precision)
        sums = self._by_bin(channels, sent, features, precision)
        width, n_numbers = codes.width[features], channels.count + codes.has_ramps
        first_column = np.append(0, np.cumsum(width))
        listed = card.send(words_of(features.size, 0, features, self._first_cell(channels, features)))
        at = card.send(words_of(first_column))
        out = (xp.zeros if codes.has_ramps else xp.empty)((int(first_column[-1]), n_numbers))
        given = (codes.design, sent, listed, at, n_numbers, sums, out)
        card.launch("columns_of_bins", (features.size, channels.count), COLUMN_THREADS, given)
        return card.download(out)

    def gram(self, channels: Channels, counts: FloatArray) -> FloatArray:
        """Return the Gram matrix of marked columns (the upper triangle, row by row), then their gradients.

        Parameters
        ----------
        channels : Channels
            Gradient, curvature and marks.
        counts : ndarray
            For how many rows each column is 1.
        """
        card, xp = self.card, self.card.xp
        jobs, entries = gram_jobs(channels.n_bits)
        entries = entries.copy()
        entries[-channels.n_bits :, 3] = counts
        sent = channels.send(card, self.codes.n_rows, self.stride, FINE)
        jobs_at, entries_at = card.send(words_of(jobs)), card.send(words_of(entries))
        batches, room = -(-len(jobs) // JOBS), CELL * JOBS * JOINT_CELLS
        pieces, rows = self._pieces(batches, FINE)
        sums = xp.zeros(len(jobs) * JOINT_CELLS, dtype=np.uint64)
        card.launch(
            "joint_counts", (pieces, batches), THREADS, (sent, jobs_at, len(jobs), JOBS, rows, room, sums), room
        )
        out = xp.empty(len(entries))
        card.launch("gram_entries", (len(entries),), COLUMN_THREADS, (sent, jobs_at, entries_at, sums, out))
        return card.download(out)

    def by_pair(self, carried: Sequence[Carried], cells: Sequence[Cells | None], pairs: Columns) -> FloatArray:
        """Sum two numbers of each row over the cells of two features at once.

        Returns a row for each of the numbers, with the tables of the pairs one after the other, each line by line.
        """
        card, xp, tables = self.card, self.card.xp, PairTables.of(cells, pairs)
        if tables.n_sums == 0:
            return np.zeros((2, 0))
        channels = Channels([each._replace(signed=False) for each in carried])
        sent = channels.send(card, self.codes.n_rows, self.stride, FINE)
        pairs_at, cells_at = card.send(words_of(tables.pairs)), card.send(packed(tables.cell_of))
        room = self._room(int((tables.n_lines * tables.bytes_by_line).max()))
        parts = int((-(-tables.n_lines // (room // tables.bytes_by_line))).max())
        pieces, rows = self._pieces(len(pairs) * parts, FINE)
        sums = xp.zeros(2 * tables.n_sums, dtype=np.uint64)
        given = (self.codes.design, sent, pairs_at, cells_at, rows, room, tables.n_sums, sums)
        card.launch("pair_sums", (len(pairs), pieces, parts), THREADS, given, room)
        out, blocks = xp.empty((2, tables.n_sums)), -(-2 * tables.n_sums // COLUMN_THREADS)
        card.launch("pair_numbers", (blocks,), COLUMN_THREADS, (sent, sums, tables.n_sums, out))
        return card.download(out)

    def _by_bin(self, channels: Channels, sent: int, features: Columns, precision: int) -> Any:
        """Sum channels by bin, in whole numbers; features of very many bins go by themselves."""
        first_cell = self._first_cell(channels, features)
        sums = self.card.xp.zeros(int(first_cell[-1]), dtype=np.uint64)
        bins = self.codes.n_bins[features]
        for part in (bins <= NEAR_BINS, bins > NEAR_BINS):
            if not part.any():
                continue
            most_bins = int(bins[part].max())
            groups = groups_of(channels, most_bins)
            words = words_of(features[part].size, len(groups), features[part], first_cell[:-1][part], 0, groups)
            pieces, rows = self._pieces(features[part].size * len(groups), precision)
            given = self.codes.design, sent, self.card.send(words), rows
            grid = features[part].size, pieces, len(groups)
            if most_bins > NEAR_BINS:
                self.card.launch("histogram_far", grid, THREADS, (*given, sums))
                continue
            widest = int((groups[:, 0] * len(channels.base) + groups[:, 3] + groups[:, 5]).max())
            room = self._room(CELL * most_bins * widest)
            self.card.launch("histogram", grid, THREADS, (*given, room, sums), room)
        return sums

    def _room(self, least: int) -> int:
        """Return the shared memory of a block: what its sums need or, where they are small, room for a few copies."""
        return min(max(least, SMALL_BYTES), self.card.shared_bytes - RESERVED)

    def _pieces(self, blocks_of_a_piece: int, precision: int) -> tuple[int, int]:
        """Cut the rows so that all processors have work; return how many pieces, and the rows of each.

        A block keeps half of the bits of a number in a word of 32, which shall not overflow.
        """
        n_rows, most = self.codes.n_rows, 2 ** (31 - precision // 2 - 1)
        wanted = -(-BLOCKS * self.card.n_processors // blocks_of_a_piece)
        rows = min(max(-(-n_rows // wanted), LEAST_ROWS), most)
        rows = -(-rows // LEAST_ROWS) * LEAST_ROWS
        return -(-n_rows // rows), rows

    def _first_cell(self, channels: Channels, features: Columns) -> Columns:
        """Return where the sums of each feature begin, and where all end."""
        return np.append(0, np.cumsum(self.codes.n_bins[features] * channels.count))
