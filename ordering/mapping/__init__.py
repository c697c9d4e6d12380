"""Which instructions make a program's loads and stores sequentially consistent. Start with mappings.py."""
