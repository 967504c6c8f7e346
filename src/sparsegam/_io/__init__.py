"""Read and write files: CSV, Parquet, Feather, Excel; infer types; detect special codes."""
