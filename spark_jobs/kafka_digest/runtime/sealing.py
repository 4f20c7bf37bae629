"""The driver's key, with which it alone opens Kafka's logins: RSA and AES-GCM of the driver's JVM.

`kafka_migration/adapters/system/sealed_text.py` seals. The private key is in the memory of the driver only.
"""

from __future__ import annotations

import base64
from typing import Any

BITS = 3072
_DECRYPT = 2  # javax.crypto.Cipher.DECRYPT_MODE
_TAG_BITS = 128


class KeyPair:
    """A new pair of keys; `public` is what seals."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        generator = jvm.java.security.KeyPairGenerator.getInstance("RSA")
        generator.initialize(BITS)
        pair = generator.generateKeyPair()
        self._private = pair.getPrivate()
        # The class of the key itself is not visible outside its module.
        form = jvm.java.lang.Class.forName("java.security.spec.X509EncodedKeySpec")
        public = jvm.java.security.KeyFactory.getInstance("RSA").getKeySpec(pair.getPublic(), form)
        self.public = base64.b64encode(bytes(public.getEncoded())).decode()

    def opened(self, sealed: str) -> str:
        """Return the text that was sealed with the public key. Raises `Py4JJavaError` for another."""
        wrapped, nonce, content = (bytearray(base64.b64decode(part)) for part in sealed.split("."))
        spec, cipher = self._jvm.javax.crypto.spec, self._jvm.javax.crypto.Cipher
        of_key = cipher.getInstance("RSA/ECB/OAEPPadding")
        sha = self._jvm.java.security.spec.MGF1ParameterSpec.SHA256
        of_key.init(_DECRYPT, self._private, spec.OAEPParameterSpec("SHA-256", "MGF1", sha, _no_label(spec)))
        key = spec.SecretKeySpec(bytearray(of_key.doFinal(wrapped)), "AES")
        of_text = cipher.getInstance("AES/GCM/NoPadding")
        of_text.init(_DECRYPT, key, spec.GCMParameterSpec(_TAG_BITS, nonce))
        return bytes(of_text.doFinal(content)).decode()


def _no_label(spec: Any) -> Any:
    return spec.PSource.PSpecified.DEFAULT
