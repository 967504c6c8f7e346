"""The version of fastsparsegams whose calls these are."""

version = "0.2.0"
