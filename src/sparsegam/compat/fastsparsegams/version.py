"""The version of fastsparsegams that is reproduced."""

version = "0.2.0"
