"""One command of the command line, run in this process."""

from sparsegam._cli.main import main


def run(capsys, *words):
    """Run a command; return its exit code, output and error output."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:  # argparse
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err
