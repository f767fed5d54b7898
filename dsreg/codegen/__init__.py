"""Generated code: standalone converters and descriptors, rendered so that no value can become code."""

from dsreg.codegen.converter import render_converter
from dsreg.codegen.literals import Code
from dsreg.codegen.templating import environment, render_template

__all__ = ["Code", "environment", "render_converter", "render_template"]
