"""The machine of the kept figures, in `bench/machine.json`."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from bench.results import drop_arms
from bench.sizes import Validation

MACHINE = Path(__file__).with_name("machine.json")
_HARDWARE = ("Processor", "Processor cores", "Memory", "System")
_PACKAGES = ("apache-airflow", "pyspark", "confluent-kafka", "numpy", "pyarrow")


def note_machine() -> None:
    """Record this machine and its versions. Absolute figures of other hardware are removed; their ratios are kept."""
    facts = {**_hardware(), **_versions()}
    before = json.loads(MACHINE.read_text()) if MACHINE.exists() else {}
    if any(before.get(name) != facts[name] for name in _HARDWARE):
        drop_arms()
    MACHINE.write_text(json.dumps(facts, indent=1) + "\n")


def _hardware() -> dict[str, str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    model = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "Processor": model[1].strip() if model else "unknown",
        "Processor cores": str(os.cpu_count()),
        "Memory": f"{memory / (1 << 30):.0f} GiB",
        "System": f"{platform.system()} {platform.machine()}",
    }


def _versions() -> dict[str, str]:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    return {
        "Records of a side (validation)": f"{Validation().records:,}",
        "Java": java.split('"')[1],
        "Python": platform.python_version(),
        "Kafka (brokers, tools)": "3.9.1",
        **{name: version(name) for name in _PACKAGES},
    }
