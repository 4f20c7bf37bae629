"""TLS of the clients that are written in Python."""

from __future__ import annotations

import ssl


def trusting(ca_pem: str | None) -> ssl.SSLContext:
    """Return a context that trusts these authorities, or the system's without any, as librdkafka and Java do.

    Python 3.13 would also refuse certificates without identifiers of keys, which Kafka's clients accept.
    """
    context = ssl.create_default_context(cadata=ca_pem or None)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
