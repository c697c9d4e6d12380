"""Unit tests of the Python package; nothing here is timed and nothing needs a JVM."""
