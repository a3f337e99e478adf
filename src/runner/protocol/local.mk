# runner/protocol: options, jobs, the wire
noinst_LIBRARIES += librunner_protocol.a
librunner_protocol_a_SOURCES = \
	src/runner/protocol/batch.c src/runner/protocol/batch.h \
	src/runner/protocol/job.c src/runner/protocol/job.h \
	src/runner/protocol/options.c src/runner/protocol/options.h \
	src/runner/protocol/serve.c src/runner/protocol/serve.h \
	src/runner/protocol/serve_private.h \
	src/runner/protocol/serve_read.c \
	src/runner/protocol/table.c src/runner/protocol/table.h

check_PROGRAMS += tests/unit/t_ahead tests/unit/t_serve
tests_unit_t_ahead_LDADD = $(below_protocol)
tests_unit_t_serve_LDADD = $(below_protocol)
