"""Code that touches single rows: standard library only, so that a generated converter can carry a copy of it.

A format's `reader.py` and `writer.py` may import from here and from the standard library, nothing else. `codegen`
pastes what they import, function by function, into the standalone script: the same source runs in both places.
"""
