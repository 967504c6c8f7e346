"""The experiments of the paper: `python -m benchmarks.paper [figure ...] [--quick] [--data PATH]`."""
