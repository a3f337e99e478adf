# runner/onednn: oneDNN
if HAVE_ONEDNN
noinst_LIBRARIES += librunner_onednn.a
endif
librunner_onednn_a_SOURCES = \
	src/runner/onednn/backend_attention.c \
	src/runner/onednn/backend_onednn.c \
	src/runner/onednn/onednn_build.c \
	src/runner/onednn/onednn_build_integers.c \
	src/runner/onednn/onednn_build_rnn.c \
	src/runner/onednn/onednn_case.c src/runner/onednn/onednn_case.h \
	src/runner/onednn/onednn_case_private.h \
	src/runner/onednn/onednn_arg.c \
	src/runner/onednn/onednn_compat.c src/runner/onednn/onednn_compat.h \
	src/runner/onednn/onednn_layout.c src/runner/onednn/onednn_layout.h \
	src/runner/onednn/onednn_mode.c \
	src/runner/onednn/onednn_offers.c src/runner/onednn/onednn_offers.h \
	src/runner/onednn/onednn_ones.c src/runner/onednn/onednn_ones.h

if HAVE_ONEDNN
check_PROGRAMS += tests/unit/t_ones
endif
tests_unit_t_ones_LDADD = librunner_onednn.a $(below_host) -ldnnl
