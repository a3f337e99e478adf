# base: memory, text, errors, JSON: what every room stands on
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	src/base/arena.c src/base/arena.h \
	src/base/cgroup.c src/base/cgroup.h \
	src/base/clock.c src/base/clock.h \
	src/base/columns.c \
	src/base/digest.c src/base/digest.h \
	src/base/error.c src/base/error.h \
	src/base/exe_path.c src/base/exe_path.h \
	src/base/folder.c src/base/folder.h \
	src/base/hash.c src/base/hash.h \
	src/base/json.c src/base/json.h \
	src/base/log.c src/base/log.h \
	src/base/output.c src/base/output.h \
	src/base/str.c src/base/str.h \
	src/base/word.c src/base/word.h

check_PROGRAMS += tests/unit/t_base
tests_unit_t_base_LDADD = $(below_base)
check_PROGRAMS += tests/unit/t_cgroup
tests_unit_t_cgroup_LDADD = $(below_base)
check_PROGRAMS += tests/unit/t_digest
tests_unit_t_digest_LDADD = $(below_base) $(MD_LIBS)
check_PROGRAMS += tests/unit/t_output
tests_unit_t_output_LDADD = $(below_base)
check_PROGRAMS += tests/unit/t_word
tests_unit_t_word_LDADD = $(below_base)
