"""Whether strangers on the network can neither read nor change the traffic between Spark's processes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

CRYPTO, TLS = "spark.network.crypto.enabled", "spark.ssl.rpc.enabled"
CIPHER, GCM = "spark.network.crypto.cipher", "AES/GCM/NoPadding"
Version = tuple[int, ...]
# Older versions know only AES/CTR/NoPadding, which does not notice changes (CVE-2025-55039). It is still the default.
_GCM_SINCE: Version = (3, 5, 2)
# Older versions ignore the settings of TLS between Spark's processes.
_TLS_SINCE: Version = (4, 0)
_TLS_SETTINGS = ("spark.ssl.rpc", "spark.ssl")
_TLS_VERSIONS = ("TLS", "TLSv1.2", "TLSv1.3")
_STRONG_CIPHER = re.compile(r"TLS_(?!\w*(?:anon|NULL|EXPORT|MD5))\w*(?:AES|CHACHA20)_\w+", re.IGNORECASE)


def is_true(settings: Mapping[str, str], name: str) -> bool:
    """Whether a boolean setting is true."""
    return settings.get(name, "").strip().lower() == "true"


def lacking_encryption(settings: Mapping[str, str], spark: Version) -> Iterator[str]:
    """Return what a cluster's encryption lacks, one text each; nothing if the traffic is safe.

    :param settings: Spark's effective settings
    :param spark: Spark's version; empty if it is unknown, which is judged like the oldest
    """
    # Spark ignores its own encryption where it uses TLS.
    is_tls = is_true(settings, TLS) and spark >= _TLS_SINCE
    return _lacking_tls(settings) if is_tls else _lacking_crypto(settings, spark)


def _lacking_crypto(settings: Mapping[str, str], spark: Version) -> Iterator[str]:
    if not is_true(settings, CRYPTO):
        yield f"{CRYPTO}=true (or {TLS}=true, from Spark {_text(_TLS_SINCE)})"
    if settings.get(CIPHER, "").strip() != GCM:
        yield f"{CIPHER}={GCM}"
    if spark < _GCM_SINCE:
        yield f"Spark {_text(_GCM_SINCE)} or newer (spark-submit: {_text(spark) or 'unknown version'})"


def _lacking_tls(settings: Mapping[str, str]) -> Iterator[str]:
    # Without one, Spark accepts every certificate.
    if not _tls_setting(settings, "trustStore"):
        yield "spark.ssl.rpc.trustStore"
    if _tls_setting(settings, "protocol") not in ("", *_TLS_VERSIONS):
        yield f"spark.ssl.rpc.protocol of {', '.join(_TLS_VERSIONS)}"
    ciphers = [name.strip() for name in _tls_setting(settings, "enabledAlgorithms").split(",")]
    if any(name and not _STRONG_CIPHER.fullmatch(name) for name in ciphers):
        yield "spark.ssl.rpc.enabledAlgorithms with AES or CHACHA20 only"


def _tls_setting(settings: Mapping[str, str], name: str) -> str:
    """Return a setting of TLS; that of the RPC comes before that of all of Spark."""
    return next((settings[place].strip() for prefix in _TLS_SETTINGS if (place := f"{prefix}.{name}") in settings), "")


def _text(version: Version) -> str:
    return ".".join(map(str, version))
