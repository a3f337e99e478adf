# runner/host: the CPU: threads, buffers
noinst_LIBRARIES += librunner_host.a
librunner_host_a_SOURCES = \
	src/runner/host/copies.c src/runner/host/copies.h \
	src/runner/host/isa.c src/runner/host/isa.h \
	src/runner/host/lanes.c src/runner/host/lanes.h \
	src/runner/host/lines.h \
	src/runner/host/team.c src/runner/host/team.h \
	src/runner/host/threads.c src/runner/host/threads.h

check_PROGRAMS += tests/unit/t_threads
tests_unit_t_threads_LDADD = $(below_host)
check_PROGRAMS += tests/unit/t_host_lanes
tests_unit_t_host_lanes_LDADD = $(below_host)
check_PROGRAMS += tests/unit/t_copies
tests_unit_t_copies_LDADD = $(below_host)
