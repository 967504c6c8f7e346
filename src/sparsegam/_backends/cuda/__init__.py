"""Fits on a CUDA device: the training data are stored on the device, where kernels compute the sums of the search.

Selected by `device="cuda"`; requires CuPy (`pip install 'sparsegam[cuda]'`).
"""
