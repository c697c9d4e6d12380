"""Whether speculation keeps programs sequentially consistent: its protocol as a model. Start with protocol.py."""
