# runner/verify: the values of operands, and whether outputs are right
noinst_LIBRARIES += librunner_verify.a
librunner_verify_a_SOURCES = \
	src/runner/verify/check.c src/runner/verify/check.h \
	src/runner/verify/check_index.c \
	src/runner/verify/check_integers.c \
	src/runner/verify/check_move.c \
	src/runner/verify/check_norm.c \
	src/runner/verify/check_private.h \
	src/runner/verify/check_sequence.c \
	src/runner/verify/check_space.c \
	src/runner/verify/domain.c src/runner/verify/domain.h \
	src/runner/verify/fill.c src/runner/verify/fill.h \
	src/runner/verify/fill_impl.h \
	src/runner/verify/integers.c src/runner/verify/integers.h \
	src/runner/verify/reference.c src/runner/verify/reference.h \
	src/runner/verify/tolerance.c src/runner/verify/tolerance.h

check_PROGRAMS += tests/unit/t_fill
tests_unit_t_fill_LDADD = $(below_verify)
check_PROGRAMS += tests/unit/t_check
tests_unit_t_check_LDADD = $(below_verify)
