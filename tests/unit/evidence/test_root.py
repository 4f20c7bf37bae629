"""Rules of the two spellings of the evidence root."""

from __future__ import annotations

import pytest

from kafka_migration.core.evidence.root import EvidencePlace, spark_spelling


def place(root: str, spark: str | None = None) -> EvidencePlace:
    """Return the place of a root that Airflow prints as it was set."""
    return EvidencePlace(root.rstrip("/"), root, spark)


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("s3://bucket/x", "s3a://bucket/x"),
        ("s3://my_conn@bucket/x", "s3a://bucket/x"),
        ("s3a://bucket/x", "s3a://bucket/x"),
        ("gs://bucket/x", "gs://bucket/x"),
        ("gs://my_conn@bucket/x", "gs://bucket/x"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net/x"),
        ("hdfs://name/x", "hdfs://name/x"),
        ("hdfs:///x", "hdfs:///x"),
        ("file:///srv/x", "file:///srv/x"),
        ("/srv/x", "/srv/x"),
    ],
)
def test_spelling_is_derived(root: str, expected: str) -> None:
    """Only `s3` has another name, and Spark knows no Airflow connections."""
    assert expected == spark_spelling(root)
    assert place(root).may_be_one


@pytest.mark.parametrize(
    ("place", "path", "expected"),
    [
        (place("s3://bucket/x/"), "s3://bucket/x/shop/r.json", "s3a://bucket/x/shop/r.json"),
        (place("s3://c@bucket/x"), "s3://c@bucket/x/shop/r.json", "s3a://bucket/x/shop/r.json"),
        (place("/srv/x"), "/srv/x/shop/r.json", "/srv/x/shop/r.json"),
        (place("/srv/x", "file:///mnt/x/"), "/srv/x/shop/r.json", "file:///mnt/x/shop/r.json"),
        # Airflow's paths leave out who holds the names.
        (EvidencePlace("hdfs:///x", "hdfs://name/x"), "hdfs:///x/shop/r.json", "hdfs://name/x/shop/r.json"),
        # A path without a scheme is printed whole.
        (EvidencePlace("/home/me/x", "x"), "/home/me/x/shop/r.json", "/home/me/x/shop/r.json"),
    ],
)
def test_path_is_translated(place: EvidencePlace, path: str, expected: str) -> None:
    """What lies below the root lies below it in either spelling."""
    assert expected == place.for_spark(path)


@pytest.mark.parametrize("path", ["/srv/other/r.json", "/srv/xy/r.json", "/srv/x"])
def test_path_outside_is_refused(path: str) -> None:
    """A path that is not below the root has no other spelling."""
    with pytest.raises(ValueError, match="is not below /srv/x"):
        place("/srv/x").for_spark(path)


@pytest.mark.parametrize(
    ("root", "spark", "may_be_one"),
    [
        ("s3://bucket/x", "s3a://bucket/x/", True),
        ("s3://c@bucket/x", "s3a://bucket/x", True),
        ("abfs://box/x", "abfss://box@account.dfs.core.windows.net/x", True),
        ("abfs://c@box/x", "abfss://box@account.dfs.core.windows.net/x", True),
        ("abfs://c@box/x", "wasbs://box@account.blob.core.windows.net/x", True),
        ("abfs://c@box/x", "wasb://other@account.blob.core.windows.net/x", False),
        ("hdfs://one/x", "hdfs://two/x", True),
        ("/srv/x", "file:///mnt/elsewhere", True),
        ("s3://bucket/x", "s3a://other/x", False),
        ("s3://bucket/x", "s3a://bucket/y", False),
        ("s3://bucket/x", "gs://bucket/x", False),
        ("abfs://box/x", "abfss://other@account.dfs.core.windows.net/x", False),
        ("hdfs://name/x", "hdfs://name/y", False),
        ("/srv/x", "s3a://bucket/x", False),
        ("s3://bucket/x", "/srv/x", False),
    ],
)
def test_spellings_of_one_place(root: str, spark: str, may_be_one: bool) -> None:
    """Another store, bucket or path is another place; names of services and mount points differ between hosts."""
    assert may_be_one is place(root, spark).may_be_one


@pytest.mark.parametrize(
    ("root", "spark", "lacks_account"),
    [
        ("abfs://c@box/x", None, True),
        ("abfs://box/x", None, True),
        ("abfs://c@box/x", "abfss://box@account/x", True),
        ("abfs://c@box/x", "abfss://box@account.dfs.core.windows.net/x", False),
        ("abfs://c@box/x", "wasbs://box@account.blob.core.windows.net/x", False),
        ("abfss://box@account.dfs.core.windows.net/x", None, False),
        ("s3://c@box/x", None, False),
        ("gs://box/x", None, False),
        ("/srv/x", None, False),
    ],
)
def test_address_of_azure_needs_the_account(root: str, spark: str | None, lacks_account: bool) -> None:
    """Hadoop opens a container of Azure only by an address that contains its account."""
    assert lacks_account is place(root, spark).lacks_account


def test_only_folders_are_local() -> None:
    """A store that is reached by its address is reached from any host."""
    assert place("/srv/x").is_local
    assert place("file:///srv/x").is_local
    assert not place("s3://bucket/x").is_local
