"""Settings of all tests."""

from hypothesis import settings

# Tests do not measure time: an example may take long on a busy machine.
settings.register_profile("sparsegam", deadline=None)
settings.load_profile("sparsegam")
