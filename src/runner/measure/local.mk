# runner/measure: sampling, the shortlist, statistics; what a backend and a platform are
noinst_LIBRARIES += librunner_measure.a
librunner_measure_a_SOURCES = \
	src/runner/measure/ahead.c src/runner/measure/ahead.h \
	src/runner/measure/backend.c src/runner/measure/backend.h \
	src/runner/measure/branches.c src/runner/measure/branches.h \
	src/runner/measure/clock.c src/runner/measure/clock.h \
	src/runner/measure/device.c src/runner/measure/device.h \
	src/runner/measure/measure.c src/runner/measure/measure.h \
	src/runner/measure/measure_private.h \
	src/runner/measure/measure_sample.c \
	src/runner/measure/measure_shortlist.c \
	src/runner/measure/ones.c src/runner/measure/ones.h \
	src/runner/measure/offers.c src/runner/measure/offers.h \
	src/runner/measure/machine.h src/runner/measure/platform.h \
	src/runner/measure/preempt.c src/runner/measure/preempt.h \
	src/runner/measure/sweep.c src/runner/measure/sweep.h

check_PROGRAMS += tests/unit/t_measure tests/unit/t_measure_clock tests/unit/t_settings
tests_unit_t_measure_LDADD = $(below_measure)
tests_unit_t_measure_clock_LDADD = $(below_measure)
tests_unit_t_settings_LDADD = $(below_measure)
