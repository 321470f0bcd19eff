# Everything is done by setup_course.py, which also works where there is no make.
PYTHON ?= python3
VERBS = site test test-fast test-slow nightly messages bench lint lock setup clean help
.PHONY: $(VERBS)
.DEFAULT_GOAL = help

$(VERBS):
	@command -v "$(PYTHON)" > /dev/null || { \
	  echo "There is no program $(PYTHON); the course needs Python 3.11 or newer."; \
	  echo "Install it from python.org or your system's packages, or type  make $@ PYTHON=/path/to/python3"; \
	  exit 1; }
	@"$(PYTHON)" setup_course.py $@
