"""The scikit-learn face: one model, sizes chosen by cross-validation, more than two classes, the binner."""
