"""Where training data are stored and summed: in this process, on a CUDA device, or on a Dask cluster."""
