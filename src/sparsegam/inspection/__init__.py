"""How good a model is, what could stand in for its terms, how far new rows have moved, its card."""
