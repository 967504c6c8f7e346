"""The command line: what each command does, its options, exit codes and one-line errors."""
