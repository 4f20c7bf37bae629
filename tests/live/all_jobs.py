"""An application that runs several Spark jobs one after the other in one driver: `all_jobs.py FOLDER…`.

Each folder holds `job` (its name), `request.json` and `clients.json`, and gets `result.json`. The jobs are called as
their own applications call them. A driver per job would start Java three times for each version.
"""

import sys
from pathlib import Path

from kafka_digest.runtime.version_numbers import end_unless_python_fits

if __name__ == "__main__":
    end_unless_python_fits()
    from kafka_digest.translate.translate_job import main as translate_offsets
    from kafka_digest.validate import main as validate_topics

    jobs = {"validate_topics": validate_topics, "translate_offsets": translate_offsets}
    codes = []
    for folder in map(Path, sys.argv[1:]):
        paths = ("--request", str(folder / "request.json"), "--result", str(folder / "result.json"))
        codes.append(jobs[(folder / "job").read_text()]((*paths, "--clients", str(folder / "clients.json"))))
    sys.exit(max(codes))
