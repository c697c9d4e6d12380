"""An emulated machine with several NUMA nodes, on which placement is tested and shown. Start reading at machine.py."""
