# runner/nvrtc: pointwise chains, generated and compiled at run time
if HAVE_CUDA
noinst_LIBRARIES += librunner_nvrtc.a
endif
librunner_nvrtc_a_SOURCES = \
	src/runner/nvrtc/backend_nvrtc.c \
	src/runner/nvrtc/nvrtc_prelude.c \
	src/runner/nvrtc/nvrtc_source.c src/runner/nvrtc/nvrtc_source.h

# The generated kernels: compiled for a CPU and compared with the reference; compiled by NVRTC if it is there.
if HAVE_CUDA
check_PROGRAMS += tests/cuda_on_cpu/t_pointwise
endif
tests_cuda_on_cpu_t_pointwise_SOURCES = src/runner/nvrtc/nvrtc_prelude.c src/runner/nvrtc/nvrtc_source.c \
	src/runner/gpu/cuda_compiler.c src/runner/gpu/cuda_folders.c src/runner/gpu/cuda_layout.c \
	src/runner/gpu/cuda_library.c
tests_cuda_on_cpu_t_pointwise_LDADD = tests/cuda_on_cpu/main_pointwise.$(OBJEXT) \
	$(below_verify) -lstdc++ -ldl -lpthread
CLEANFILES += tests/cuda_on_cpu/main_pointwise.$(OBJEXT)

# The backend, with NVRTC and the driver's launch faked: kernels are compiled by the host's compiler.
if HAVE_CUDA
check_PROGRAMS += tests/unit/t_nvrtc
endif
tests_unit_t_nvrtc_SOURCES = tests/unit/t_nvrtc.c tests/unit/fake_nvrtc.c $(fake_cuda)
tests_unit_t_nvrtc_CPPFLAGS = $(AM_CPPFLAGS) '-DCXX_USED="$(CXX)"' '-DSOURCES="$(abs_top_srcdir)"'
tests_unit_t_nvrtc_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_unit_t_nvrtc_LDADD = librunner_nvrtc.a $(below_gpu)
