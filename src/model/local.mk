# model: ONNX files
noinst_LIBRARIES += libmodel.a
libmodel_a_SOURCES = \
	src/model/graph.c src/model/graph.h \
	src/model/load.h \
	src/model/load_attribute.c \
	src/model/load_external.c \
	src/model/load_function.c \
	src/model/load_graph.c \
	src/model/load_names.c \
	src/model/load_onnx.c \
	src/model/load_opset.c \
	src/model/load_sort.c \
	src/model/load_tensor.c \
	src/model/load_text.c \
	src/model/load_type.c \
	src/model/skim.c src/model/skim.h \
	src/model/sniff.c src/model/sniff.h \
	src/model/tensor.c src/model/tensor.h \
	src/model/triangle.c src/model/triangle.h \
	src/model/window.c src/model/window.h \
	src/model/write.h \
	src/model/write_onnx.c \
	src/model/write_private.h \
	src/model/write_tensor.c
nodist_libmodel_a_SOURCES = src/model/onnx.pb-c.c src/model/onnx.pb-c.h
BUILT_SOURCES += src/model/onnx.pb-c.h
CLEANFILES += src/model/onnx.pb-c.c src/model/onnx.pb-c.h
EXTRA_DIST += src/model/onnx.proto
src/model/onnx.pb-c.c: src/model/onnx.proto
	$(AM_V_GEN)$(MKDIR_P) src/model && \
	$(PROTOC_C) --c_out=$(builddir)/src/model --proto_path=$(srcdir)/src/model $(srcdir)/src/model/onnx.proto
src/model/onnx.pb-c.h: src/model/onnx.pb-c.c
# Not only BUILT_SOURCES: so that `make libmodel.a` works in a fresh build directory.
$(libmodel_a_OBJECTS) tests/unit/t_skim.$(OBJEXT): src/model/onnx.pb-c.h

check_PROGRAMS += tests/unit/t_declared
tests_unit_t_declared_LDADD = $(below_model)
check_PROGRAMS += tests/unit/t_functions
tests_unit_t_functions_LDADD = $(below_model)
check_PROGRAMS += tests/unit/t_model
tests_unit_t_model_LDADD = $(below_model)
check_PROGRAMS += tests/unit/t_skim
tests_unit_t_skim_LDADD = $(below_model)
check_PROGRAMS += tests/unit/t_write
tests_unit_t_write_LDADD = $(below_model)
