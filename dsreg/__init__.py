"""dsreg: keep a repository of fine-tuning datasets in order."""

__version__ = "0.1.0"
