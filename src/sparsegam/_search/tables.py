"""Tables of any columns: binned, posed to the core, and searched for the best model of every size."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import Backend, LabelledData
from sparsegam._data.streams import as_stream
from sparsegam._data.table import Table, read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.encoding import take_in
from sparsegam._search.options import SearchOptions
from sparsegam._search.table_problem import TableProblem, build_table_problem
from sparsegam.arrays import FloatArray


@dataclass(frozen=True)
class Tables:
    """Tables of any columns, which are binned: each bin is a column that the search may choose."""

    binning: Binning
    rules: Constraints
    interactions: InteractionOptions = field(default_factory=InteractionOptions)
    smaller: ClassVar[str] = "a larger lambda0, fewer max_terms or fewer max_bins"

    def read(self, X: Any) -> Table:
        """Look at an array or a frame without copying it."""
        return read_table(X)

    def take_in(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> tuple[Table, Any, Any]:
        """Read what comes in pieces, as codes; y and sample_weight are names of columns."""
        return take_in(as_stream(X), y, sample_weight, self.binning, n_threads)

    def pose(self, data: Table, y: FloatArray, weight: FloatArray, options: SearchOptions) -> TableProblem:
        """Build the problem of labelled data."""
        return build_table_problem(
            self.backend(options.n_threads),
            LabelledData(data, y, weight),
            self.binning,
            self.rules,
            self.interactions,
            options,
        )

    def backend(self, n_threads: int) -> Backend[LabelledData[Table]]:
        """Return where the data are kept and summed."""
        return LocalBackend(n_threads)
