"""Generated code: standalone converters and descriptors, rendered so that no value can become code."""
