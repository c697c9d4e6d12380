"""Memgraft: grafts memory-system designs onto stock runtimes and measures what each does to a program."""
