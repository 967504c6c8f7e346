"""Input data: tables, matrices, columns and their scales, targets, weights and streams."""
