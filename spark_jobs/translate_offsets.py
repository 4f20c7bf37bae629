"""Finds where consumer groups resume on the other cluster: `translate_offsets.py --request REQUEST --result RESULT
[--clients-once CLIENTS]`.

REQUEST and RESULT are paths of JSON documents (a local path or any URI that Spark's Hadoop supports; the contract is in
`kafka_migration/core/translation/translation_contract.py`; docs/reference/spark-jobs.md shows an example). CLIENTS is a
file on the driver with the Kafka reader options of both sides, including secrets; it is removed as soon as it is read.
`--clients` takes a file that is kept, or the name of one shipped with `--files`.

Nothing is written to either cluster. Exit code 0: the result was written. 1: it was not; the last line that begins with
`translate_offsets:` gives the reason with a code (spark-submit prints the job's stderr on its stdout). 2: usage.
"""

import sys

from kafka_digest.runtime.version_numbers import end_unless_python_fits

if __name__ == "__main__":
    end_unless_python_fits()
    # An older Python could not read it.
    from kafka_digest.translate.translate_job import main

    sys.exit(main(sys.argv[1:]))
