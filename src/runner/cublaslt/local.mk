# runner/cublaslt: cuBLASLt
if HAVE_CUDA
noinst_LIBRARIES += librunner_cublaslt.a
endif
librunner_cublaslt_a_SOURCES = \
	src/runner/cublaslt/backend_cublaslt.c \
	src/runner/cublaslt/cublaslt_case.c src/runner/cublaslt/cublaslt_case.h \
	src/runner/cublaslt/cublaslt_group.c src/runner/cublaslt/cublaslt_group.h \
	src/runner/cublaslt/cublaslt_library.c src/runner/cublaslt/cublaslt_library.h \
	src/runner/cublaslt/cublaslt_names.c src/runner/cublaslt/cublaslt_names.h \
	src/runner/cublaslt/cublaslt_sweep.c src/runner/cublaslt/cublaslt_sweep.h \
	src/runner/cublaslt/cublaslt_ones.c

# on a stand-in of the library
cuda_standin = tests/unit/cuda_standin.c
if HAVE_CUDA
check_PROGRAMS += tests/unit/t_cublaslt tests/unit/t_cublaslt_desc
endif
tests_unit_t_cublaslt_SOURCES = tests/unit/t_cublaslt.c tests/unit/fake_cublaslt.c $(cuda_standin)
tests_unit_t_cublaslt_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_unit_t_cublaslt_LDADD = librunner_cublaslt.a $(below_gpu)
tests_unit_t_cublaslt_desc_LDADD = librunner_cublaslt.a $(below_gpu)
