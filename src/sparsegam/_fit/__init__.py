"""Fits: options, training data, the driver, cross-validation, and what the estimators do with a result."""
