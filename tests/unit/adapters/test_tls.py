"""Certificates are judged as Kafka's clients judge them."""

from __future__ import annotations

import ssl

import pytest

from kafka_migration.adapters.system.tls import trusting

pytestmark = pytest.mark.unit


def test_certificates_need_no_identifiers_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default of Python 3.13 that Kafka's clients do not have is switched off; nothing else is."""
    strict = ssl.create_default_context()
    strict.verify_flags |= ssl.VERIFY_X509_STRICT
    monkeypatch.setattr(ssl, "create_default_context", lambda cadata: strict)

    context = trusting(None)

    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert (ssl.CERT_REQUIRED, True) == (context.verify_mode, context.check_hostname)
