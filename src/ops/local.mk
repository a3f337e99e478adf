# ops: the operator table: shapes, costs and problems of each operator
noinst_LIBRARIES += libops.a
libops_a_SOURCES = \
	src/ops/op.c src/ops/op.h \
	src/ops/op_own.h \
	src/ops/op_own_add.c \
	src/ops/op_own_private.h \
	src/ops/op_table.c \
	src/ops/microsoft/op_microsoft.h \
	src/ops/microsoft/op_microsoft_alias.c \
	src/ops/microsoft/op_microsoft_attention.c \
	src/ops/microsoft/op_microsoft_indexer.c \
	src/ops/microsoft/op_microsoft_matmul.c \
	src/ops/microsoft/op_microsoft_norm.c \
	src/ops/microsoft/op_microsoft_packed.c \
	src/ops/microsoft/op_microsoft_product.c \
	src/ops/microsoft/op_microsoft_ragged.c \
	src/ops/microsoft/op_microsoft_replay.c \
	src/ops/microsoft/op_microsoft_rest.c \
	src/ops/onnx/op_attention.c src/ops/onnx/op_attention.h \
	src/ops/onnx/op_binary.c \
	src/ops/onnx/op_cast.c \
	src/ops/onnx/op_conv.c \
	src/ops/onnx/op_einsum.c \
	src/ops/onnx/op_eltwise.c \
	src/ops/onnx/op_gather.c \
	src/ops/onnx/op_gemm.c \
	src/ops/onnx/op_llm.c \
	src/ops/onnx/op_move.c \
	src/ops/onnx/op_norm.c \
	src/ops/onnx/op_pad.c \
	src/ops/onnx/op_pool.c \
	src/ops/onnx/op_quant.c \
	src/ops/onnx/op_quant_core.c \
	src/ops/onnx/op_reduce.c \
	src/ops/onnx/op_resize.c \
	src/ops/onnx/op_rnn.c \
	src/ops/onnx/op_select.c \
	src/ops/onnx/op_sequence.c \
	src/ops/onnx/op_shape.c \
	src/ops/onnx/op_slice.c \
	src/ops/onnx/op_state.c \
	src/ops/onnx/op_window.c src/ops/onnx/op_window.h \
	src/ops/rare/op_loss.c \
	src/ops/rare/op_ml.c \
	src/ops/rare/op_old.c \
	src/ops/rare/op_random.c \
	src/ops/rare/op_signal.c \
	src/ops/rare/op_tensorrt.c \
	src/ops/rare/op_text.c \
	src/ops/rare/op_vision.c \
	src/ops/rules/op_attribute.c src/ops/rules/op_attribute.h \
	src/ops/rules/op_contents.c src/ops/rules/op_contents.h \
	src/ops/rules/op_own.c \
	src/ops/rules/op_rules.c src/ops/rules/op_rules.h \
	src/ops/rules/op_types.c \
	src/ops/rules/op_value.c

# cases in tests/ops; every row of the table needs one
ops_cases = tests/unit/ops_case.c tests/unit/ops_run.c
check_PROGRAMS += tests/unit/t_ops
tests_unit_t_ops_SOURCES = tests/unit/t_ops.c $(ops_cases)
tests_unit_t_ops_LDADD = $(below_ops)
