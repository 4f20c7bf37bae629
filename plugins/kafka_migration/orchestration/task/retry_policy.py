"""The retry policy of all tasks. Airflow before 3.3 has no retry policies and cannot import this module."""

from __future__ import annotations

from airflow.sdk import Context
from airflow.sdk.definitions.retry_policy import RetryDecision, RetryPolicy


class NeverAgain(RetryPolicy):
    """Never retries a task that raised a final exception; the previous policy decides about everything else."""

    def __init__(self, other: RetryPolicy | None, final: type[BaseException]) -> None:
        self.other = other
        self.final = final

    def evaluate(
        self, exception: BaseException, try_number: int, max_tries: int, context: Context | None = None
    ) -> RetryDecision:
        """Decide about one failure."""
        if isinstance(exception, self.final):
            return RetryDecision.fail()
        return self.other.evaluate(exception, try_number, max_tries, context) if self.other else RetryDecision.default()
