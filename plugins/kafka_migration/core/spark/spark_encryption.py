"""Whether strangers on the network can neither read nor change the traffic between Spark's processes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kafka_migration.core.spark.spark_versions import Version

CRYPTO, TLS = "spark.network.crypto.enabled", "spark.ssl.rpc.enabled"
_CIPHER, _GCM = "spark.network.crypto.cipher", "AES/GCM/NoPadding"
# Older versions ignore the settings of TLS between Spark's processes.
_TLS_SINCE: Version = (4, 0)
# Per release, the first version in which AES/GCM works. Others do not know it, or lose messages (SPARK-56227).
_GCM_SINCE: tuple[Version, ...] = ((3, 5, 9), (4, 0, 4), (4, 1, 3))
_TLS_SETTINGS = ("spark.ssl.rpc", "spark.ssl")
_TLS_VERSIONS = ("TLS", "TLSv1.2", "TLSv1.3")
_STRONG_CIPHER = re.compile(r"TLS_(?!\w*(?:anon|NULL|EXPORT|MD5))\w*(?:AES|CHACHA20)_\w+", re.IGNORECASE)
NOTICES_CHANGES = (
    f"encryption that notices changes: {TLS} (from Spark {_TLS_SINCE[0]}.{_TLS_SINCE[1]}), or {_CIPHER}={_GCM} "
    f"(from Spark {', '.join('.'.join(map(str, version)) for version in _GCM_SINCE)})"
)


def is_true(settings: Mapping[str, str], name: str) -> bool:
    """Whether a boolean setting is true."""
    return settings.get(name, "").strip().lower() == "true"


def depends_on_version(settings: Mapping[str, str]) -> bool:
    """Whether Spark's version decides if these settings protect the traffic."""
    return is_true(settings, TLS) or (is_true(settings, CRYPTO) and settings.get(_CIPHER, "").strip() == _GCM)


def lacking_encryption(settings: Mapping[str, str], spark: Version) -> Iterator[str]:
    """Return what a cluster's encryption lacks, one text each; nothing if strangers cannot read the traffic.

    :param settings: Spark's effective settings
    :param spark: Spark's version; empty if it is unknown, which is judged like the oldest
    """
    if _is_tls(settings, spark):
        yield from _lacking_tls(settings)
    elif not is_true(settings, CRYPTO):
        yield f"{CRYPTO}=true (or {TLS}=true, from Spark {_TLS_SINCE[0]}.{_TLS_SINCE[1]})"


def weak_cipher(settings: Mapping[str, str], spark: Version) -> str:
    """Return with which cipher strangers could change Spark's own encryption unnoticed; empty if they could not.

    Parameters are those of `lacking_encryption`. The default cipher of all versions is a weak one (CVE-2025-55039).
    """
    if _is_tls(settings, spark) or not is_true(settings, CRYPTO):
        return ""
    cipher = settings.get(_CIPHER, "").strip()
    if cipher != _GCM:
        return f"{_CIPHER}={cipher}" if cipher else f"no {_CIPHER}, which is AES/CTR/NoPadding"
    since = next((version for version in _GCM_SINCE if version[:2] == spark[:2]), max(_GCM_SINCE))
    return "" if spark >= since else f"{_GCM} with Spark {'.'.join(map(str, spark)) or 'of unknown version'}"


def _is_tls(settings: Mapping[str, str], spark: Version) -> bool:
    """Whether Spark uses TLS; it then ignores the settings of its own encryption."""
    return is_true(settings, TLS) and spark >= _TLS_SINCE


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
