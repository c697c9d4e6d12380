"""Tests of reading and judging jcstress."""
