"""The command line: commands, options, exit codes and one-line errors."""
