"""Unit tests of the hunt: no JVM, and programs whose failures are a seeded die."""
