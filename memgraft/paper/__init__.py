"""`memgraft paper`: tables and figures of the papers behind the grafts, measured here and set beside what they print.

One TOML file each, in `experiments/zeroing/` of a checkout (definition.py); a grid of workloads and strategies whose
launches are kept, so that several figures can be made of one (grid.py); numbers with intervals (measures.py,
kernels.py); the terminal and a page (show.py, page.py). Start reading at work.py.
"""
