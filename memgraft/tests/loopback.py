"""Asking a server of this machine's own."""

import urllib.error
import urllib.request


def answer(address: str) -> int:
    """The status of its answer."""
    try:
        with urllib.request.urlopen(address, timeout=120) as reply:  # noqa: S310  on 127.0.0.1
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
