"""OpenJDK's own concurrency samples, with what sequential consistency allows of their outcomes."""
