"""Records without a timestamp: which target records are their copies. numpy only; no Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from kafka_digest.keys.alignment import Records
from kafka_digest.keys.subsequences import Hashes
from kafka_digest.reading.hashing import NOTHING


def without_times_of_copies(
    source: Records, target: Records, source_contents: Hashes, target_contents: Hashes
) -> Records:
    """Return a key's target records; those that are copies of source records without a timestamp have none either.

    MirrorMaker gives such a copy the time of the copy. A target record counts as a copy if it has the content of such a
    source record, unless it is the copy of a source record with the same content and its timestamp.

    :param source_contents: the hashes of the records without their timestamps
    """
    is_untimed = source.records == source_contents
    if not is_untimed.any():
        return target
    timed = Counter(source.records[~is_untimed].tolist())
    *contents, times = (field.copy() for field in target.fields)
    records = target.records.copy()
    for place in np.flatnonzero(np.isin(target_contents, source_contents[is_untimed])).tolist():
        record = int(records[place])
        if timed[record]:
            timed[record] -= 1
        else:
            records[place], times[place] = target_contents[place], NOTHING
    return replace(target, records=records, fields=[*contents, times])
