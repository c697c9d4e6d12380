"""Zeroing kernels: measured, compared, chosen for a CPU."""
