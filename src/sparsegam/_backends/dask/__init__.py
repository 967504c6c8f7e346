"""Additive models on a Dask cluster: the rows stay on the workers, which send sums over them to the client."""
