# runner/beside: problems side by side on the CPU
if HAVE_ONEDNN
noinst_LIBRARIES += librunner_beside.a
endif
librunner_beside_a_SOURCES = \
	src/runner/beside/backend_beside.c \
	src/runner/beside/deal.c src/runner/beside/deal.h

if HAVE_ONEDNN
check_PROGRAMS += tests/unit/t_backend_beside
endif
tests_unit_t_backend_beside_LDADD = librunner_beside.a $(below_host)
