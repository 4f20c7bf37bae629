"""Evidence in S3: a server with a bucket, and the settings by which Airflow and Spark find it.

The server is moto's, a double: no S3 can be had here. It speaks to Airflow's provider (s3fs) and to Spark's own client
(s3a) alike.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import httpx

from sandbox import jars
from sandbox.parts import HOST, Part, PartSpec, free_ports, running

BUCKET, FOLDER = "proofs", "kafka"
S3A = "s3a-3.4.1"
# A reader without a login is refused; the server checks none.
_LOGIN = {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"}
_NAMESPACE = {"s3": "http://s3.amazonaws.com/doc/2006-03-01/"}


@dataclass(frozen=True)
class ObjectStore:
    """An S3 server with one bucket."""

    port: int

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://{HOST}:{self.port}"

    def environment(self, folder: Path, spark_jars: str) -> dict[str, str]:
        """Return what Airflow and Spark must be told; a file for Spark is written to the folder.

        `spark_jars` are the connector's, to which those for S3 are added.
        """
        jars.ensure_sets([S3A], print)
        (folder / "spark-defaults.conf").write_text(
            f"spark.hadoop.fs.s3a.endpoint {self.address}\nspark.hadoop.fs.s3a.path.style.access true\n"
            "spark.hadoop.fs.s3a.endpoint.region us-east-1\n"
        )
        s3a = ",".join(str(jar) for jar in sorted(jars.jar_set(S3A).libs.glob("*.jar")))
        extra = {"endpoint_url": self.address, "region_name": "us-east-1"}
        return {
            "SPARK_CONF_DIR": str(folder),
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AIRFLOW_CONN_AWS_DEFAULT": json.dumps({"conn_type": "aws", "extra": extra}),
            "AIRFLOW__KAFKA_MIGRATION__EVIDENCE_ROOT": f"s3://aws_default@{BUCKET}/{FOLDER}",
            "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": f"{spark_jars},{s3a}",
        }

    def files(self, migration: str) -> list[str]:
        """Return the paths of a migration's files below the evidence root."""
        prefix, found, token = f"{FOLDER}/", list[str](), ""
        with self.client() as client:
            while True:
                query = {"list-type": "2", "prefix": f"{prefix}{migration}/"}
                page = client.get("", params=query | ({"continuation-token": token} if token else {}))
                document = ElementTree.fromstring(page.raise_for_status().content)
                keys = document.iterfind("s3:Contents/s3:Key", _NAMESPACE)
                found += [str(key.text).removeprefix(prefix) for key in keys]
                token = document.findtext("s3:NextContinuationToken", "", _NAMESPACE)
                if not token:
                    return found

    def download(self, migration: str, root: Path) -> None:
        """Copy a migration's files to an evidence root on the disk."""
        with self.client() as client:
            for name in self.files(migration):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(client.get(f"/{FOLDER}/{name}").raise_for_status().content)

    def client(self) -> httpx.Client:
        """Return a client of the bucket."""
        return httpx.Client(base_url=f"{self.address}/{BUCKET}", headers=_LOGIN, trust_env=False, timeout=60)


@contextmanager
def object_store(
    command: Sequence[str], log: Path, port: int | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[ObjectStore]:
    """Run moto's server, whose program is the command, with an empty bucket until the end of the block."""
    store = ObjectStore(port or free_ports(1)[0])
    server = (*command, "-H", HOST, "-p", str(store.port))
    given = os.environ if environment is None else environment
    with running(Part(PartSpec("S3 server", server, given, log, lambda said: "Running on" in said))):
        with store.client() as client:
            client.put("").raise_for_status()
        yield store
