"""The face of the compiled searches: options, a problem posed, a price per term, the models found."""
