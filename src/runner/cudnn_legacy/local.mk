# runner/cudnn_legacy: cuDNN's legacy API
if HAVE_CUDA
noinst_LIBRARIES += librunner_cudnn_legacy.a
endif
librunner_cudnn_legacy_a_SOURCES = \
	src/runner/cudnn_legacy/backend_cudnn_legacy.c \
	src/runner/cudnn_legacy/cudnn_legacy.h \
	src/runner/cudnn_legacy/cudnn_legacy_desc.c \
	src/runner/cudnn_legacy/cudnn_legacy_layer.c \
	src/runner/cudnn_legacy/cudnn_legacy_rnn.c

# on a stand-in of the library
if HAVE_CUDA
check_PROGRAMS += tests/unit/t_cudnn_legacy tests/unit/t_cudnn_legacy_desc
endif
tests_unit_t_cudnn_legacy_SOURCES = tests/unit/t_cudnn_legacy.c tests/unit/fake_cudnn.c tests/unit/fake_cudnn_layer.c \
	tests/unit/fake_cudnn_rnn.c $(cuda_standin)
tests_unit_t_cudnn_legacy_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_unit_t_cudnn_legacy_LDADD = librunner_cudnn_legacy.a librunner_cudnn.a $(below_gpu)
tests_unit_t_cudnn_legacy_desc_SOURCES = tests/unit/t_cudnn_legacy_desc.c $(cuda_standin)
tests_unit_t_cudnn_legacy_desc_LDADD = librunner_cudnn_legacy.a $(below_gpu)
