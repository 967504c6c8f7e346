"""`python -m sparsegam` is the command line."""

import sys

from sparsegam._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
