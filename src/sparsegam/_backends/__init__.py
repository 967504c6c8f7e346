"""Where the rows of a fit are stored and summed: in memory, on a CUDA device, or on a Dask cluster."""
