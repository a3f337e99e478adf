# runner/gemm: matrix multiplication with few rows, for which oneDNN is slow
if HAVE_ONEDNN
noinst_LIBRARIES += librunner_gemm.a
endif
librunner_gemm_a_SOURCES = \
	src/runner/gemm/backend_packed.c \
	src/runner/gemm/gemm_packed.c src/runner/gemm/gemm_packed.h src/runner/gemm/gemm_packed_impl.h

if HAVE_ONEDNN
check_PROGRAMS += tests/unit/t_gemm_packed
endif
tests_unit_t_gemm_packed_LDADD = librunner_gemm.a $(below_host)
