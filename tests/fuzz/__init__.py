"""Random cases for everything public: nothing may crash, hang or lie. `python tests/fuzz --help` says how to run it."""
