# runner/kernels: our own CUDA kernels
if HAVE_CUDA
noinst_LIBRARIES += librunner_kernels.a
endif
librunner_kernels_a_SOURCES = \
	src/runner/kernels/cuda_cast.cu \
	src/runner/kernels/cuda_copy.cu \
	src/runner/kernels/cuda_cub.cuh \
	src/runner/kernels/cuda_device.cuh \
	src/runner/kernels/cuda_eight.cu \
	src/runner/kernels/cuda_few.cu \
	src/runner/kernels/cuda_fill.cu \
	src/runner/kernels/cuda_kernels.h \
	src/runner/kernels/cuda_line.cu src/runner/kernels/cuda_line.cuh \
	src/runner/kernels/cuda_lookup.cu \
	src/runner/kernels/cuda_move.c \
	src/runner/kernels/cuda_norm.cu \
	src/runner/kernels/cuda_probe.cu \
	src/runner/kernels/cuda_number.cuh \
	src/runner/kernels/cuda_product.cu src/runner/kernels/cuda_product.cuh \
	src/runner/kernels/cuda_quantize.cu \
	src/runner/kernels/cuda_reduce.cu \
	src/runner/kernels/cuda_resample.cu \
	src/runner/kernels/cuda_rows.cuh \
	src/runner/kernels/cuda_shift.cu \
	src/runner/kernels/cuda_softmax.cu \
	src/runner/kernels/cuda_strided.cuh \
	src/runner/kernels/cuda_tiled.cu \
	src/runner/kernels/cuda_topk.cu

# The same sources compiled for the CPU, with blocks and threads played by tests/cuda_on_cpu.
on_cpu_kernels = cast copy eight few fill line lookup norm product probe quantize reduce resample shift \
	softmax tiled topk
on_cpu_objects = $(on_cpu_kernels:%=tests/cuda_on_cpu/cuda_%.$(OBJEXT)) tests/cuda_on_cpu/cuda_on_cpu.$(OBJEXT)
on_cpu_headers = $(wildcard $(srcdir)/tests/cuda_on_cpu/*.h $(srcdir)/src/runner/kernels/*.cuh $(srcdir)/src/runner/kernels/*.h) \
	$(srcdir)/tests/unit/tap.h $(srcdir)/src/runner/verify/fill_impl.h $(srcdir)/src/runner/verify/check.h
on_cpu_compile = $(AM_V_GEN)$(MKDIR_P) tests/cuda_on_cpu && $(CXX) -x c++ -std=c++17 -O1 -g -Wall -Wextra \
	-Wno-unknown-pragmas -Wno-clobbered -fno-strict-aliasing $(BENANZA_LDFLAGS) -DCUDA_ON_CPU \
	'-DCXX_USED="$(CXX)"' '-DSOURCES="$(abs_top_srcdir)"' \
	-I$(srcdir)/tests/cuda_on_cpu -I$(srcdir)/src -I$(srcdir) $(CUDA_CPPFLAGS) -c -o $@
tests/cuda_on_cpu/cuda_on_cpu.$(OBJEXT): tests/cuda_on_cpu/cuda_on_cpu.cpp $(on_cpu_headers)
	$(on_cpu_compile) $(srcdir)/tests/cuda_on_cpu/cuda_on_cpu.cpp
tests/cuda_on_cpu/main_%.$(OBJEXT): $(srcdir)/tests/cuda_on_cpu/t_%.cpp $(on_cpu_headers)
	$(on_cpu_compile) $<
tests/cuda_on_cpu/cuda_%.$(OBJEXT): src/runner/kernels/cuda_%.cu $(on_cpu_headers)
	$(on_cpu_compile) $<
if HAVE_CUDA
check_PROGRAMS += tests/cuda_on_cpu/t_kernels tests/cuda_on_cpu/t_own
endif
tests_cuda_on_cpu_t_kernels_SOURCES = src/runner/kernels/cuda_move.c src/runner/own/cuda_pick.c
tests_cuda_on_cpu_t_kernels_LDADD = tests/cuda_on_cpu/main_kernels.$(OBJEXT) $(on_cpu_objects) $(below_verify) -lstdc++
tests_cuda_on_cpu_t_own_SOURCES = $(tests_cuda_on_cpu_t_kernels_SOURCES) src/runner/gpu/cuda_layout.c \
	src/runner/gpu/cuda_signed_case.c src/runner/measure/backend.c src/runner/own/cuda_own.c \
	src/runner/own/cuda_own_eight.c src/runner/own/cuda_own_few.c src/runner/own/cuda_own_lines.c
tests_cuda_on_cpu_t_own_LDADD = tests/cuda_on_cpu/main_own.$(OBJEXT) $(on_cpu_objects) $(below_verify) -lstdc++
CLEANFILES += tests/cuda_on_cpu/main_kernels.$(OBJEXT) tests/cuda_on_cpu/main_own.$(OBJEXT) $(on_cpu_objects)
