"""Resources and operations of Kafka's access control lists."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

ResourceKind = Literal["topic", "group", "cluster", "transactional-id"]


class Operation(StrEnum):
    """An operation as `kafka-acls.sh` names it."""

    ALTER = "Alter"
    ALTER_CONFIGS = "AlterConfigs"
    CREATE = "Create"
    DELETE = "Delete"
    DESCRIBE = "Describe"
    DESCRIBE_CONFIGS = "DescribeConfigs"
    READ = "Read"
    WRITE = "Write"


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """What a right is on: one name, or every name with this prefix. The name `*` stands for all."""

    kind: ResourceKind
    name: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Acl:
    """One entry of an access control list; `operation` is named as by `kafka-acls.sh`."""

    resource: Resource
    principal: str
    host: str
    operation: str
    is_allowed: bool = True


THE_CLUSTER = Resource("cluster", "kafka-cluster")
