"""`memgraft buffers scale`: contention on the heap's pointer on more cores than this machine has.

What it costs here is measured (costs.py), what it would cost there is modelled twice: by a formula (model.py) and event
by event (simulation.py). docs/buffers.md, "Scaling", has the assumptions. Start reading at work.py.
"""
