"""The command line: a thin layer over the Python API. Commands import what they work with when they run."""
