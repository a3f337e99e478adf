# runner/own: the backend of our own kernels
if HAVE_CUDA
noinst_LIBRARIES += librunner_own.a
endif
librunner_own_a_SOURCES = \
	src/runner/own/backend_cuda.c \
	src/runner/own/cuda_own.c src/runner/own/cuda_own.h src/runner/own/cuda_own_private.h \
	src/runner/own/cuda_own_eight.c \
	src/runner/own/cuda_own_few.c \
	src/runner/own/cuda_own_lines.c \
	src/runner/own/cuda_own_scales.c \
	src/runner/own/cuda_pick.c
