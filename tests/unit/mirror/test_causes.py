"""Rules of what MirrorMaker's log tells: the logs are ends of real ones, of Kafka 3.9.1, without most frames."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.causes import CAUSES, certain_sign, newest_sign, sign_of_end
from kafka_migration.core.mirror.diagnosis import OPEN_TRANSACTION, health_findings, with_causes
from kafka_migration.core.mirror.engine import MirrorHealth
from kafka_migration.core.mirror.log_entries import LONGEST_QUOTE, root_exception

LOGS = Path(__file__).parent / "mirrormaker_logs"
# What was wrong, as the files are named before the engine's number; each cause has one code with either engine.
CODES = {
    "large": Code.RECORD_TOO_LARGE,
    "largebroker": Code.RECORD_TOO_LARGE,
    "policy-configs": Code.MIRROR_TOPIC_UNFIT,
    "policy-offsets": Code.MIRROR_TOPIC_UNFIT,
    "policy-partitions": Code.MIRROR_TOPIC_UNFIT,
    "policy-status": Code.MIRROR_TOPIC_UNFIT,
    "policyclass": Code.MIRROR_SETTING_REFUSED,
    "group-right": Code.RIGHT_MISSING,
    "topic-right": Code.RIGHT_MISSING,
    "transactional-right": Code.RIGHT_MISSING,
    "password-source": Code.LOGIN_REFUSED,
    "password-target": Code.LOGIN_REFUSED,
    "mechanism": Code.MECHANISM_NOT_OFFERED,
    "cert-source": Code.CERTIFICATE_NOT_TRUSTED,
    "cert-target": Code.CERTIFICATE_NOT_TRUSTED,
    "clientcert": Code.CLIENT_CERTIFICATE_REFUSED,
    "memory": Code.MIRROR_OUT_OF_MEMORY,
}
FILES = sorted(path for path in LOGS.glob("*.log") if path.stem != "needless-2")
DEAD = Finding(Code.MIRROR_DEAD, "MirrorMaker", "generation 4 ended: exit code 1, ended", "running", "Fix it.")


def read(name: str) -> str:
    return (LOGS / f"{name}.log").read_text()


def finding(code: Code, subject: str = "orders[0]", found: str = "x") -> Finding:
    return Finding(code, subject, found, "y", "Z.")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_real_log_tells_its_cause_in_mirrormakers_own_words(path: Path) -> None:
    """A dead MirrorMaker has the code of its cause, and the quote is an exception with its message, from the log."""
    cause, _ = path.stem.rsplit("-", 1)
    (named,) = with_causes([DEAD], path.read_text(), 512)

    assert CODES[cause] == named.code
    quote = named.found.partition("; MirrorMaker says: ")[2]
    assert re.match(r"[\w.$]+(Exception|Error)\b|Invalid value", quote), named.found
    assert quote[:100] in path.read_text()
    assert DEAD.found in named.found


@pytest.mark.parametrize("code", [Code.MIRROR_DEAD, Code.PARTITION_NOT_ASSIGNED, Code.MIRROR_STALLED])
@pytest.mark.parametrize("cause", ["topic-right", "password-source", "cert-source", "mechanism", "clientcert", "large"])
@pytest.mark.parametrize("engine", [1, 2])
def test_one_code_per_cause_however_it_shows(code: Code, cause: str, engine: int) -> None:
    """Both engines, and a death, a missing task and a stall: the cause is what the finding is called after."""
    findings = with_causes([finding(code), finding(code, "orders[1]")], read(f"{cause}-{engine}"), 512)

    assert [(CODES[cause], "orders[0] (and 1 more)")] == [(f.code, f.subject) for f in findings]


def test_task_is_judged_by_its_own_trace() -> None:
    """What a failed task says of itself counts, whatever else the log contains."""
    trace = "task-0: ConnectException: Unrecoverable … Caused by: o.a.k.TopicAuthorizationException: Not authorized"
    failed = finding(Code.MIRROR_TASK_FAILED, found=trace)

    assert [Code.RIGHT_MISSING] == [f.code for f in with_causes([failed], read("large-2"), 512)]
    unknown = finding(Code.MIRROR_TASK_FAILED, found="task-0: ConnectException: Something else")
    assert (unknown,) == with_causes([unknown], read("large-2"), 512)


def test_topic_and_heap_are_named() -> None:
    """The finding has what its reader must change: the topic, or the present heap."""
    (unfit,) = with_causes([DEAD], read("policy-offsets-2"), 512)
    (memory,) = with_causes([DEAD], "java.lang.OutOfMemoryError: Java heap space", 4096)

    assert "Topic 'mm2-offsets.policy-offsets-2-source.internal'" in unfit.found
    assert "Raise mirror.heap_mb in the migration file, which is 4,096 now" in memory.remedy


@pytest.mark.parametrize(
    "said",
    [
        "Error occurred during initialization of VM\nCould not reserve enough space for 4194304KB object heap",
        "Error occurred during initialization of VM\nCould not allocate compressed class space: 1073741824 bytes",
        "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation",
        "[2026-01-01 10:00:00,000] ERROR x\njava.lang.OutOfMemoryError: unable to create native thread: possibly",
        "[2026-01-01 10:00:00,000] ERROR x\njava.lang.OutOfMemoryError: unable to create new native thread\n\tat x",
    ],
)
def test_memory_that_the_host_refuses_is_not_the_heap(said: str) -> None:
    """A larger heap would make it worse: the finding asks for memory or limits of the host, or a smaller heap."""
    (memory,) = with_causes([DEAD], said, 4096)

    assert Code.MIRROR_HOST_OUT_OF_MEMORY == memory.code
    assert "lower mirror.heap_mb in the migration file, which is 4,096 now" in memory.remedy


def test_words_of_the_jvm_count_before_the_cut_end_of_a_log() -> None:
    """The JVM's own output comes first; an end of the log that begins within an entry takes no line of it away."""
    rest = read("needless-2").split("\n", 2)[2]
    log = f"Terminating due to java.lang.OutOfMemoryError: Java heap space\n\tat x\n{rest}"

    assert [Code.MIRROR_OUT_OF_MEMORY] == [f.code for f in with_causes([DEAD], log, 512)]


def test_rights_that_are_not_needed_are_no_cause() -> None:
    """MirrorMaker 2 complains of rights that a copy does not need; nothing is blamed on them."""
    log = read("needless-2")

    assert "TopicAuthorizationException" in log
    assert None is certain_sign(log) is newest_sign(log) is sign_of_end(log)


def test_trace_that_was_cut_off_is_left_out() -> None:
    """The end of a log may begin within a trace of which nothing is known, as of a right that is not needed."""
    rest = read("needless-2").split("\n", 2)[2]
    end = "[2026-01-01 10:00:00,000] INFO x"
    log = f"Caused by: o.TopicAuthorizationException: Topic authorization failed.\n\tat x\n{rest}{end}"

    assert sign_of_end(log) is None
    assert (DEAD,) == with_causes([DEAD], log, 512)


def test_exception_without_a_row_is_quoted() -> None:
    """A cause that the table does not know is quoted: the root of the newest error, and not what followed from it."""
    log = (
        "[2026-01-01 10:00:00,000] ERROR Mirror failed (x)\njava.lang.IllegalStateException: outer\n\tat a\n"
        "Caused by: java.io.IOException: No space left on device\n\tat b\n\t... 3 more\n"
        "[2026-01-01 10:00:01,000] ERROR Send failed (x)\no.KafkaException: Producer is closed forcefully.\n\tat c\n"
        "[2026-01-01 10:00:02,000] INFO Kafka mirror maker shutdown successfully (x)\n"
    )
    (quoted,) = with_causes([DEAD], log, 512)

    assert "java.io.IOException: No space left on device" == root_exception(log)
    assert (Code.MIRROR_DEAD, f"{DEAD.found}; MirrorMaker says: java.io.IOException: No space left on device") == (
        quoted.code,
        quoted.found,
    )


def test_warnings_of_a_moment_do_not_explain_a_death() -> None:
    """A cluster that was away for a moment is in every log; only the exception that ended MirrorMaker counts."""
    away = "[2026-01-01 10:00:00,000] WARN Connection to node 1 (b/10.0.0.1:9092) could not be established (x)\n"
    ended = "[2026-01-01 10:00:01,000] ERROR Stopping due to error (x)\norg.a.errors.TimeoutException: late\n\tat c\n"

    assert [Code.MIRROR_DEAD] == [f.code for f in with_causes([DEAD], away, 512)]
    assert [Code.CLUSTER_UNREACHABLE] == [f.code for f in with_causes([DEAD], away + ended, 512)]
    assert (stalled := finding(Code.MIRROR_STALLED),) == with_causes([stalled], away, 512)


def test_words_about_something_that_is_over_are_no_cause() -> None:
    """A login that was refused an hour ago did not end a process that was killed now."""
    old = "[2026-01-01 10:00:00,000] ERROR x failed authentication due to: Authentication failed (x)\n"
    log = f"{old}o.SaslAuthenticationException: Authentication failed\n[2026-01-01 11:00:00,000] INFO well (x)\n"

    assert (DEAD, stalled := finding(Code.MIRROR_STALLED)) == with_causes([DEAD, stalled], log, 512)
    assert [Code.LOGIN_REFUSED] == [f.code for f in with_causes([DEAD], log.replace("11:00", "10:02"), 512)]


def test_lack_of_memory_is_never_over() -> None:
    """A thread that ended for it is missing as long as the process lives, and a later stall has this cause."""
    log = "[2026-01-01 10:00:00,000] ERROR Uncaught (x)\njava.lang.OutOfMemoryError: Java heap space\n\tat x\n"
    stalled = finding(Code.MIRROR_STALLED)
    later = f"{log}[2026-01-01 11:00:00,000] INFO well (x)\n"

    assert [Code.MIRROR_OUT_OF_MEMORY] == [f.code for f in with_causes([stalled], later, 512)]
    assert [Code.MIRROR_DEAD] == [f.code for f in health_findings(MirrorHealth(), log.splitlines()[1])]


@pytest.mark.parametrize("head", ["0000-00-00 00:00:00,000", "2026-13-45 99:99:99,999", "9999-12-31 23:59:59,999"])
def test_impossible_time_is_no_error(head: str) -> None:
    """A log with a time that does not exist, or that never was, is read as well."""
    log = f"[{head}] ERROR x\njava.lang.OutOfMemoryError: Java heap space\n"

    assert [Code.MIRROR_OUT_OF_MEMORY] == [f.code for f in with_causes([DEAD], log, 512)]


def test_open_transaction_is_not_hidden_by_the_log() -> None:
    """A partition that waits for an open transaction is not called after words of the log."""
    stalled = finding(Code.MIRROR_STALLED, found=f"unchanged; likely cause: {OPEN_TRANSACTION}")

    assert (stalled,) == with_causes([stalled], read("topic-right-1"), 512)


def test_log_that_cannot_be_read_leaves_what_is_known() -> None:
    """Without a log the finding's own words count, if it has any."""
    said = Finding(Code.MIRROR_DEAD, "m", f"ended at its start; its log ends:\n{read('mechanism-1')}", "y", "Z.")

    assert (DEAD,) == with_causes([DEAD], "", 512)
    assert [Code.MECHANISM_NOT_OFFERED] == [f.code for f in with_causes([said], "", 512)]


@pytest.mark.parametrize("name", ["policy-offsets-2", "policy-status-2", "group-right-2", "policyclass-2"])
def test_dead_worker_in_a_living_process_is_an_end(name: str) -> None:
    """MirrorMaker 2 hangs in its own shutdown, or without its connector; the line of its log ends the run at once."""
    words = ("herder work thread", "Failed to configure MirrorSourceConnector")
    line = next(line for line in read(name).splitlines() if any(each in line for each in words))
    (dead,) = health_findings(MirrorHealth(), line)

    assert Code.MIRROR_DEAD == dead.code
    assert [CODES[name.rsplit("-", 1)[0]]] == [f.code for f in with_causes([dead], read(name), 512)]


def test_flood_is_searched_in_bounded_time_and_quoted_in_bounded_length() -> None:
    """A hostile log of megabytes is searched, and no quote is longer than its bound."""
    log = "[2026-01-01 10:00:00,000] ERROR x " + "o.RecordTooLargeException: " * 40_000 + "\n" + "Exception" * 100_000

    sign = sign_of_end(log)
    assert sign is not None
    assert len(sign.quote) <= LONGEST_QUOTE


def test_every_row_says_what_to_do() -> None:
    """Each row has a meaning, an expectation and a remedy that ends with how the run continues."""
    for cause in CAUSES:
        assert all((cause.what, cause.expected)), cause
        assert cause.remedy.endswith("Then trigger the run again. Copied records are kept."), cause
