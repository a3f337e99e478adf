# runner/nvrtc: pointwise chains, generated and compiled at run time
if HAVE_CUDA
noinst_LIBRARIES += librunner_nvrtc.a
endif
librunner_nvrtc_a_SOURCES = \
	src/runner/nvrtc/backend_nvrtc.c \
	src/runner/nvrtc/nvrtc_library.c src/runner/nvrtc/nvrtc_library.h \
	src/runner/nvrtc/nvrtc_prelude.c \
	src/runner/nvrtc/nvrtc_source.c src/runner/nvrtc/nvrtc_source.h

# The generated kernels: compiled for a CPU and compared with the reference; compiled by NVRTC if it is there.
if HAVE_CUDA
check_PROGRAMS += tests/cuda_on_cpu/t_pointwise
endif
tests_cuda_on_cpu_t_pointwise_SOURCES = src/runner/nvrtc/nvrtc_library.c src/runner/nvrtc/nvrtc_prelude.c \
	src/runner/nvrtc/nvrtc_source.c src/runner/gpu/cuda_folders.c src/runner/gpu/cuda_layout.c \
	src/runner/gpu/cuda_library.c
tests_cuda_on_cpu_t_pointwise_LDADD = tests/cuda_on_cpu/main_pointwise.$(OBJEXT) \
	$(below_verify) -lstdc++ -ldl -lpthread
CLEANFILES += tests/cuda_on_cpu/main_pointwise.$(OBJEXT)
