"""The columns of a problem: bins, ramps, interactions, constraints and scaling."""
