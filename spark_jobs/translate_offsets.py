"""Finds where consumer groups resume on the other cluster: `translate_offsets.py --request REQUEST --result RESULT
[--clients-once CLIENTS]`.

The arguments, the exit code and the last line (`translate_offsets: …`) are those of `validate_topics.py`. The contract
is in `kafka_migration/core/translation/translation_contract.py`. Nothing is written to either cluster.
"""

import sys

from kafka_digest.runtime.version_numbers import end_unless_python_fits

if __name__ == "__main__":
    end_unless_python_fits()
    # An older Python could not read it.
    from kafka_digest.translate.translate_job import main

    sys.exit(main(sys.argv[1:]))
