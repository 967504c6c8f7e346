"""Problems and their search: options, penalties, interactions, and the models found."""
