"""Random tests of the whole public API. `python tests/fuzz --help` lists the options."""
