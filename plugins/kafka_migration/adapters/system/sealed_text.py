"""Seals a text for one reader: AES-GCM with a new key, which RSA wraps for the reader's public key.

`spark_jobs/kafka_digest/runtime/sealing.py` opens it.
"""

from __future__ import annotations

import base64
import os

KEY_BYTES, NONCE_BYTES = 32, 12


def sealed(public_key: str, text: str) -> str:
    """Return the text for the owner of a public key (SubjectPublicKeyInfo in base64). `ValueError` for no such key."""
    # Neither is imported where no driver runs in a cluster.
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    reader = load_der_public_key(base64.b64decode(public_key))
    if not isinstance(reader, RSAPublicKey):
        raise ValueError("the key is not one of RSA")
    key, nonce = os.urandom(KEY_BYTES), os.urandom(NONCE_BYTES)
    content = AESGCM(key).encrypt(nonce, text.encode(), None)
    return ".".join(base64.b64encode(part).decode() for part in (_wrapped(reader, key), nonce, content))


def _wrapped(reader: object, key: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.hashes import SHA256

    assert isinstance(reader, RSAPublicKey)
    return reader.encrypt(key, OAEP(MGF1(SHA256()), SHA256(), None))
