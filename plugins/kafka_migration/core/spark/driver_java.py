"""The Java options of Spark's driver in client mode: a class archive, and the quick compiler for few records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kafka_migration.core.spark.spark_target import SparkTarget

# Spark puts these before `spark.driver.extraJavaOptions`, so an option of the user replaces the same one of ours.
DEFAULT_OPTIONS, _USER_OPTIONS = "spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"
# Where a JVM or `spark-submit` reads options too.
LAUNCHED = "SPARK_SUBMIT_OPTS"
OPTION_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", LAUNCHED)
# The quick compiler saves some seconds of each start, with small records also at five times this number
# (docs/adr/0058). Its code is slower, so it would lose in the end; the bytes are unknown before they are read.
FEW_RECORDS = 200_000
QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
# A JVM ignores an archive that does not fit without a word; JAVA_TOOL_OPTIONS and the like stay as they are.
SILENT_SHARING = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
# Options with which the JVM would refuse ours, or which decide the same question.
_FILE = r"-XX:Flags|VMOptionsFile|(?:^|\s)@"
_OF_SHARING = re.compile(rf"-Xshare|Shared(?:Archive|ClassList|Spaces)|ClassesAtExit|{_FILE}")
_OF_COMPILING = re.compile(rf"Tiered|Compil|Code(?:Heap|Cache)|JVMCI|-Xint|-Xcomp|{_FILE}")


def driver_settings(
    target: SparkTarget, environment: Mapping[str, str], *, records: int, archive: str | None
) -> dict[str, str]:
    """Return the setting with our Java options; empty without one, or if an administrator has set it.

    :param target: its `settings` include those of the task
    :param environment: the variables of `spark-submit`
    :param records: the most records that the job reads of both sides
    :param archive: the path of the class archive for this JVM and this Spark, if there is one
    """
    if target.ships_files or DEFAULT_OPTIONS in target.settings:
        return {}
    options = " ".join(_options(user_options(target, environment), records, archive))
    return {DEFAULT_OPTIONS: options} if options else {}


def quick_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable with which `spark-submit --version` starts Java with the quick compiler.

    Empty if the user's variables choose a compiler; their other options stay.
    """
    if _OF_COMPILING.search(" ".join(environment.get(name, "") for name in OPTION_VARIABLES)):
        return {}
    return {LAUNCHED: f"{QUICK_COMPILER} {environment.get(LAUNCHED, '')}".strip()}


def user_options(target: SparkTarget, environment: Mapping[str, str]) -> str:
    """Return all Java options of the driver that are not ours."""
    named = (target.settings.get(name, "") for name in (DEFAULT_OPTIONS, _USER_OPTIONS))
    return " ".join([*named, *(environment.get(name, "") for name in OPTION_VARIABLES)])


def shares_classes(options: str) -> bool:
    """Whether Java options decide themselves which classes the JVM shares."""
    return _OF_SHARING.search(options) is not None


def _options(of_user: str, records: int, archive: str | None) -> Iterator[str]:
    if archive is not None and not shares_classes(of_user):
        yield from (quoted(f"-XX:SharedArchiveFile={archive}"), *SILENT_SHARING)
    if records <= FEW_RECORDS and not _OF_COMPILING.search(of_user):
        yield QUICK_COMPILER


def quoted(option: str) -> str:
    """Return an option as Spark splits a text of options: backslashes escape in double quotes."""
    if re.fullmatch(r"[\w=:/.+@%,-]+", option):
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
