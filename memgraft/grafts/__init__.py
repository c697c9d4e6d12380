"""The grafts: the table of them (table.py), what was chosen (selection.py), and what is said of each."""
