"""Generated code: standalone converters and descriptors, rendered so that no value can become code."""

from dsreg.codegen.converter import render_converter
from dsreg.codegen.environment import environment, render_template
from dsreg.codegen.literals import Code

__all__ = ["Code", "environment", "render_converter", "render_template"]
