"""Models on a CUDA device: rows stay there as bin codes or columns, and the search asks for sums.

`device="cuda"` of estimators and paths leads here. `pip install 'sparsegam[cuda]'`.
"""
