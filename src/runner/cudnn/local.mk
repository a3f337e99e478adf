# runner/cudnn: cuDNN's graph API
if HAVE_CUDA
noinst_LIBRARIES += librunner_cudnn.a
endif
librunner_cudnn_a_SOURCES = \
	src/runner/cudnn/backend_cudnn.c \
	src/runner/cudnn/cudnn_build_attention.c \
	src/runner/cudnn/cudnn_build_conv.c \
	src/runner/cudnn/cudnn_build_norm.c \
	src/runner/cudnn/cudnn_build_plain.c \
	src/runner/cudnn/cudnn_build_window.c \
	src/runner/cudnn/cudnn_chain.c \
	src/runner/cudnn/cudnn_desc.c src/runner/cudnn/cudnn_desc.h \
	src/runner/cudnn/cudnn_engines.c src/runner/cudnn/cudnn_engines.h \
	src/runner/cudnn/cudnn_form.c src/runner/cudnn/cudnn_form.h \
	src/runner/cudnn/cudnn_graph.c src/runner/cudnn/cudnn_graph.h \
	src/runner/cudnn/cudnn_library.c src/runner/cudnn/cudnn_library.h \
	src/runner/cudnn/cudnn_merge.c src/runner/cudnn/cudnn_merge.h \
	src/runner/cudnn/cudnn_offers.c src/runner/cudnn/cudnn_offers.h \
	src/runner/cudnn/cudnn_pack.c src/runner/cudnn/cudnn_pack.h \
	src/runner/cudnn/cudnn_plan.c src/runner/cudnn/cudnn_plan.h \
	src/runner/cudnn/cudnn_tensor.c \
	src/runner/cudnn/plan_cache.c src/runner/cudnn/plan_cache.h

# on a stand-in of the library, and planned without a device by the real one
if HAVE_CUDA
check_PROGRAMS += tests/unit/t_cudnn_graph tests/unit/t_cudnn_plan tests/unit/t_plan_cache
tests_unit_t_plan_cache_LDADD = librunner_cudnn.a libbase.a
endif
tests_unit_t_cudnn_graph_SOURCES = tests/unit/t_cudnn_graph.c tests/unit/fake_cudnn_graph.c tests/unit/fake_cudnn_run.c \
	tests/unit/fake_shift.c 	$(cuda_standin)
tests_unit_t_cudnn_graph_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_unit_t_cudnn_graph_LDADD = librunner_cudnn.a $(below_gpu)
tests_unit_t_cudnn_plan_LDADD = librunner_cudnn.a $(below_gpu)
