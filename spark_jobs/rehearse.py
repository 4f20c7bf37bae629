"""Loads the classes that the jobs need and ends: `kafka-migration spark-archive` runs it. It takes no argument."""

import sys

from kafka_digest.runtime.version_numbers import end_unless_python_fits

if __name__ == "__main__":
    end_unless_python_fits()
    # An older Python could not read it.
    from kafka_digest.rehearsal import main

    sys.exit(main())
