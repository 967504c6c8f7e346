"""Fitted models and their parts; prediction needs only NumPy."""
