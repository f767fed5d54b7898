"""A file on several cores: worker processes convert stretches of it; the output keeps the order."""
