"""Spark 3.5 as docs/howto/spark-on-yarn.md brings it to a YARN that knows nothing of it, by the page's own commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox import jars

VERSION = "3.5.1"
CONNECTOR = f"spark-kafka-{VERSION}-2.12"
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "spark-on-yarn.md"
# What stands for HDFS, with the options that the page uses.
HDFS = """\
#!/bin/sh
shift
case $1 in
    -mkdir) mkdir -p "{folder}$3" ;;
    -put) cp "$3" "$4" "{folder}$5" ;;
esac
"""


@dataclass(frozen=True)
class BroughtSpark:
    """What the commands of the page made, in a folder of the test."""

    folder: Path

    @classmethod
    def made_in(cls, folder: Path) -> BroughtSpark:
        """Run the commands; the folder is in the place of HDFS, and a copy of this Python in that of the nodes'."""
        _copy_python(folder / "validation" / "python")
        hdfs = folder / "bin" / "hdfs"
        hdfs.parent.mkdir()
        hdfs.write_text(HDFS.format(folder=folder))
        hdfs.chmod(0o755)
        commands = "".join(_documented("sh")).replace("/opt/validation", str(folder / "validation"))
        commands = re.sub(r"(?<!/)python3 -m", f"{sys.executable} -m", commands)
        environment = {**os.environ, "PATH": f"{hdfs.parent}:{os.environ['PATH']}"}
        # The variables that the last block exports are for Airflow.
        ended = subprocess.run(
            ["bash", "-e", "-c", commands], env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-4000:]
        jars.ensure_sets([CONNECTOR], print)
        return cls(folder)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of Airflow's workers, and the jars of the connector that they would fetch."""
        return {
            "SPARK_HOME": str(self.folder / "validation" / "spark" / "pyspark"),
            "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": ",".join(map(str, jars.jar_set(CONNECTOR).libs.glob("*.jar"))),
        }

    def extra(self, mode: str) -> Mapping[str, str | None]:
        """Return the connection's extra of the page for a deploy mode; `None` is a setting that must not be given."""
        text = _documented("json")[0]
        here = text.replace("hdfs:///", f"file:{self.folder}/").replace("/opt/validation", f"{self.folder}/validation")
        extra = {**json.loads(here)["extra"], "deploy-mode": mode, "spark.yarn.jars": None}
        if mode == "cluster":
            del extra["spark.pyspark.driver.python"]
        return extra


def _copy_python(folder: Path) -> None:
    """Copy this Python without its libraries, as an archive of a whole Python has it."""
    ignored = shutil.ignore_patterns("site-packages", "test", "__pycache__")
    shutil.copytree(sys.base_prefix, folder, symlinks=True, ignore=ignored)
    subprocess.run([folder / "bin" / "python3", "-m", "ensurepip"], check=True, capture_output=True)


def _documented(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
