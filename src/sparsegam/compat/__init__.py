"""The calls of other packages, answered by this one: change an import, and keep the script."""
