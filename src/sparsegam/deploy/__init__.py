"""From a model to decisions: whole points, reasons, changes by hand."""
