import subprocess
import sys


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, sparsegam.plots; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
