"""Fits: options, training data, the driver, cross-validation, and the methods shared by the estimators."""
