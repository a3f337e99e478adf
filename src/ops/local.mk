# ops: the operator table: shapes, costs and problems of each operator
noinst_LIBRARIES += libops.a
libops_a_SOURCES = \
	src/ops/op.c src/ops/op.h \
	src/ops/op_attention.c src/ops/op_attention.h \
	src/ops/op_attribute.c src/ops/op_attribute.h \
	src/ops/op_binary.c \
	src/ops/op_cast.c \
	src/ops/op_contents.c src/ops/op_contents.h \
	src/ops/op_conv.c \
	src/ops/op_einsum.c \
	src/ops/op_eltwise.c \
	src/ops/op_gather.c \
	src/ops/op_gemm.c \
	src/ops/op_llm.c \
	src/ops/op_loss.c \
	src/ops/op_microsoft.h \
	src/ops/op_microsoft_alias.c \
	src/ops/op_microsoft_attention.c \
	src/ops/op_microsoft_indexer.c \
	src/ops/op_microsoft_matmul.c \
	src/ops/op_microsoft_norm.c \
	src/ops/op_microsoft_packed.c \
	src/ops/op_microsoft_product.c \
	src/ops/op_microsoft_ragged.c \
	src/ops/op_microsoft_replay.c \
	src/ops/op_microsoft_rest.c \
	src/ops/op_ml.c \
	src/ops/op_move.c \
	src/ops/op_norm.c \
	src/ops/op_old.c \
	src/ops/op_own.c src/ops/op_own.h \
	src/ops/op_own_add.c \
	src/ops/op_own_private.h \
	src/ops/op_pad.c \
	src/ops/op_pool.c \
	src/ops/op_quant.c \
	src/ops/op_quant_core.c \
	src/ops/op_random.c \
	src/ops/op_reduce.c \
	src/ops/op_resize.c \
	src/ops/op_rnn.c \
	src/ops/op_rules.c src/ops/op_rules.h \
	src/ops/op_select.c \
	src/ops/op_sequence.c \
	src/ops/op_shape.c \
	src/ops/op_signal.c \
	src/ops/op_slice.c \
	src/ops/op_state.c \
	src/ops/op_table.c \
	src/ops/op_tensorrt.c \
	src/ops/op_text.c \
	src/ops/op_types.c \
	src/ops/op_value.c \
	src/ops/op_vision.c \
	src/ops/op_window.c src/ops/op_window.h

# cases in tests/ops; every row of the table needs one
ops_cases = tests/unit/ops_case.c tests/unit/ops_run.c
check_PROGRAMS += tests/unit/t_ops
tests_unit_t_ops_SOURCES = tests/unit/t_ops.c $(ops_cases)
tests_unit_t_ops_LDADD = $(below_ops)
