"""Java virtual machines: finding and starting them, and what they write."""
