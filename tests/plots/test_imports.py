import subprocess
import sys


def test_importing_plots_imports_neither_matplotlib_nor_scikit_learn():
    code = "import sys, sparsegam.plots; assert not {'matplotlib', 'sklearn'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
