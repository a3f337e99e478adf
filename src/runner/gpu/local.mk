# runner/gpu: the CUDA runtime: context, buffers, clocks, the work that is timed
if HAVE_CUDA
noinst_LIBRARIES += librunner_gpu.a
endif
librunner_gpu_a_SOURCES = \
	src/runner/gpu/cuda_beside.c \
	src/runner/gpu/cuda_buffers.c src/runner/gpu/cuda_buffers.h \
	src/runner/gpu/cuda_calibrate.c src/runner/gpu/cuda_calibrate.h \
	src/runner/gpu/cuda_check.c src/runner/gpu/cuda_check.h \
	src/runner/gpu/cuda_clock.c src/runner/gpu/cuda_clock.h \
	src/runner/gpu/cuda_compiler.c src/runner/gpu/cuda_compiler.h \
	src/runner/gpu/cuda_context.c src/runner/gpu/cuda_context.h \
	src/runner/gpu/cuda_context_device.c \
	src/runner/gpu/cuda_context_plan.c \
	src/runner/gpu/cuda_context_private.h \
	src/runner/gpu/cuda_cupti.c src/runner/gpu/cuda_cupti.h \
	src/runner/gpu/cuda_kept.c src/runner/gpu/cuda_kept.h \
	src/runner/gpu/cuda_layout.c \
	src/runner/gpu/cuda_error.c \
	src/runner/gpu/cuda_folders.c src/runner/gpu/cuda_folders.h \
	src/runner/gpu/cuda_library.c src/runner/gpu/cuda_library.h \
	src/runner/gpu/cuda_library_list.c \
	src/runner/gpu/cuda_lock.c src/runner/gpu/cuda_lock.h \
	src/runner/gpu/cuda_names.c src/runner/gpu/cuda_names.h \
	src/runner/gpu/cuda_nvml.c src/runner/gpu/cuda_nvml.h \
	src/runner/gpu/cuda_parts.c \
	src/runner/gpu/cuda_signed.c src/runner/gpu/cuda_signed.h \
	src/runner/gpu/cuda_signed_case.c \
	src/runner/gpu/cuda_time.c src/runner/gpu/cuda_time.h \
	src/runner/gpu/cuda_work.c src/runner/gpu/cuda_work.h

# On a stand-in of the CUDA runtime. The two that need no toolkit are built everywhere.
check_PROGRAMS += tests/unit/t_cuda_library tests/unit/t_cuda_lock
tests_unit_t_cuda_library_SOURCES = tests/unit/t_cuda_library.c src/runner/gpu/cuda_library.c \
	src/runner/gpu/cuda_folders.c src/runner/gpu/cuda_library_list.c
tests_unit_t_cuda_library_LDADD = $(below_base) -ldl
tests_unit_t_cuda_lock_SOURCES = tests/unit/t_cuda_lock.c src/runner/gpu/cuda_lock.c
tests_unit_t_cuda_lock_LDADD = $(below_base)
fake_cuda = tests/unit/fake_cudart.c tests/unit/fake_driver.c
if HAVE_CUDA
check_PROGRAMS += tests/unit/t_cuda_beside tests/unit/t_cuda_context tests/unit/t_cuda_measure \
	tests/unit/t_cuda_parts tests/unit/t_cuda_timer tests/unit/t_cuda_work
endif
tests_unit_t_cuda_beside_SOURCES = tests/unit/t_cuda_beside.c tests/unit/fake_backend.c $(fake_cuda)
tests_unit_t_cuda_beside_LDADD = librunner_protocol.a $(below_gpu)
tests_unit_t_cuda_context_SOURCES = tests/unit/t_cuda_context.c $(fake_cuda)
tests_unit_t_cuda_context_LDADD = $(below_gpu)
tests_unit_t_cuda_measure_SOURCES = tests/unit/t_cuda_measure.c tests/unit/fake_backend.c $(fake_cuda)
tests_unit_t_cuda_measure_LDADD = librunner_protocol.a $(below_gpu)
tests_unit_t_cuda_parts_LDADD = $(below_gpu)
tests_unit_t_cuda_timer_SOURCES = tests/unit/t_cuda_timer.c tests/unit/fake_backend.c $(fake_cuda)
tests_unit_t_cuda_timer_LDADD = $(below_gpu)
tests_unit_t_cuda_work_SOURCES = tests/unit/t_cuda_work.c tests/unit/fake_backend.c $(fake_cuda)
tests_unit_t_cuda_work_LDADD = $(below_gpu)
