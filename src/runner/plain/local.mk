# runner/plain: plain C, for what oneDNN has not
if HAVE_ONEDNN
noinst_LIBRARIES += librunner_plain.a
endif
librunner_plain_a_SOURCES = \
	src/runner/plain/backend_copy.c \
	src/runner/plain/backend_plain.c \
	src/runner/plain/plain_convert.c src/runner/plain/plain_convert.h \
	src/runner/plain/plain_kernels.c src/runner/plain/plain_kernels.h \
	src/runner/plain/plain_lines.c src/runner/plain/plain_lines.h src/runner/plain/plain_lines_impl.h \
	src/runner/plain/plain_quantize.c \
	src/runner/plain/plain_table.c src/runner/plain/plain_table.h

if HAVE_ONEDNN
check_PROGRAMS += tests/unit/t_plain_convert tests/unit/t_plain_lines
endif
tests_unit_t_plain_convert_LDADD = librunner_plain.a $(below_host)
tests_unit_t_plain_lines_LDADD = librunner_plain.a $(below_host)
