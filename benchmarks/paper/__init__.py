"""The paper's experiments, one command each: `python -m benchmarks.paper [figure ...] [--quick] [--data PATH]`."""
