"""Run a command of the command line in the current process."""

from sparsegam._cli.main import main


def run(capsys, *words):
    """Run a command; return its exit code, standard output and standard error."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:  # raised by argparse
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err
