"""Models on a CUDA card: rows stay there as bin codes or columns, and the search asks for sums.

`device="cuda"` of estimators and paths leads here. `pip install 'sparsegam[cuda]'`.
"""
