"""Where the rows of a fit are kept: this machine, a CUDA device or a Dask cluster."""
