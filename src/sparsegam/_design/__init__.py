"""The columns that a search may choose from, and what they mean in the words of the data."""
