# The two runner programs: boxes of src/runner, main.c and a platform. No ONNX, no SQLite, no curses.
include src/runner/verify/local.mk
include src/runner/measure/local.mk
include src/runner/host/local.mk
include src/runner/onednn/local.mk
include src/runner/plain/local.mk
include src/runner/gemm/local.mk
include src/runner/beside/local.mk
include src/runner/kernels/local.mk
include src/runner/gpu/local.mk
include src/runner/own/local.mk
include src/runner/nvrtc/local.mk
include src/runner/cublaslt/local.mk
include src/runner/cudnn/local.mk
include src/runner/cudnn_legacy/local.mk
include src/runner/protocol/local.mk

# a box and those below it, for the unit tests
below_verify = librunner_verify.a libwire.a $(below_problem) -lm
below_measure = librunner_measure.a $(below_verify) -lpthread
below_host = librunner_host.a $(below_measure) -lpthread
below_kernels = librunner_kernels.a $(below_measure) $(CUDA_CXX_LIBS)
below_gpu = librunner_gpu.a $(below_measure) -ldl -lpthread
below_protocol = librunner_protocol.a $(below_measure) -lpthread

if HAVE_ONEDNN
bin_PROGRAMS += benanza-runner-cpu
endif
benanza_runner_cpu_SOURCES = src/runner/main.c src/runner/platform_cpu.c
benanza_runner_cpu_LDADD = librunner_protocol.a librunner_beside.a librunner_onednn.a librunner_plain.a \
	librunner_gemm.a $(below_host) -ldnnl

# Only the CUDA runtime is linked, and statically: the program may be copied alone to another machine. The C
# library may be older there: without unused sections of libstdc++ no function of the newest one is needed.
cuda_link = $(CUDA_LIBDIR)/libcudart_static.a $(CUDA_CXX_LIBS) -ldl -lpthread -lrt
if HAVE_CUDA
bin_PROGRAMS += benanza-runner-cuda
endif
benanza_runner_cuda_SOURCES = src/runner/main.c src/runner/platform_cuda.c
benanza_runner_cuda_LDFLAGS = $(AM_LDFLAGS) -static-libgcc -Wl,--gc-sections
benanza_runner_cuda_LDADD = librunner_protocol.a librunner_cudnn_legacy.a librunner_cudnn.a librunner_cublaslt.a \
	librunner_own.a librunner_nvrtc.a \
	librunner_gpu.a librunner_kernels.a librunner_measure.a librunner_verify.a libwire.a \
	libproblem.a libbase.a $(JANSSON_STATIC_LIBS) $(cuda_link)

# nvcc compiles what ends in .cu, here and in tests, into libraries that name their sources as usual.
SUFFIXES = .cu
nvcc_verbose = $(nvcc_verbose_@AM_V@)
nvcc_verbose_ = $(nvcc_verbose_@AM_DEFAULT_V@)
nvcc_verbose_0 = @echo "  NVCC    " $@;
# Includes of the toolkit are nvcc's own; CUDA_CPPFLAGS as -isystem would come before them.
nvcc_compile = $(NVCC) -std=c++17 $(NVCCFLAGS) $(CUDA_GENCODE) $(DEFS) $(DEFAULT_INCLUDES) -I$(srcdir)/src -I$(srcdir) \
	-I$(builddir)/src -Xcompiler -Wall,-Wextra,-fPIC $(CUDA_NVCC_WERROR)
.cu.o:
	$(nvcc_verbose)$(MKDIR_P) $(@D)/$(DEPDIR) && \
	$(nvcc_compile) -MD -MP -MF $(@D)/$(DEPDIR)/$(*F).nvcc -c -o $@ $<
if HAVE_CUDA
-include $(wildcard src/runner/kernels/$(DEPDIR)/*.nvcc tests/*/$(DEPDIR)/*.nvcc)
endif
distclean-local:
	rm -f src/runner/kernels/$(DEPDIR)/*.nvcc tests/*/$(DEPDIR)/*.nvcc
