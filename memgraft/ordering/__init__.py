"""Which methods could do without order."""
