"""Benchmarks of sparsegam and other packages: same data, same timing, one implementation of every objective."""
