"""A comparison: its design, its launches, its numbers, and what may be said of them."""
