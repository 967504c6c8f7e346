"""Peers side by side: the same data, the same clock, the same code for every objective."""
