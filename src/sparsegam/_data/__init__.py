"""The tables and matrices that come in: columns on their scales, targets and weights, files."""
