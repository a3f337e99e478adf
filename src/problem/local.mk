# problem: one micro-benchmark: its text, its shapes, its costs, its results
noinst_LIBRARIES += libproblem.a
libproblem_a_SOURCES = \
	src/problem/assumed.c src/problem/assumed.h \
	src/problem/beside.c src/problem/beside.h \
	src/problem/dim.c src/problem/dim.h \
	src/problem/dim_poly.c src/problem/dim_poly.h \
	src/problem/dtype.c src/problem/dtype.h \
	src/problem/execution.c src/problem/execution.h \
	src/problem/execution_field.c src/problem/execution_field.h \
	src/problem/execution_figure.c src/problem/execution_figure.h \
	src/problem/expression.c src/problem/expression.h \
	src/problem/kernel.h \
	src/problem/kernels/attention.c \
	src/problem/kernels/beside.c \
	src/problem/kernels/conv.c \
	src/problem/kernels/groupnorm.c \
	src/problem/kernels/matmul.c \
	src/problem/kernels/move.c \
	src/problem/kernels/norm.c \
	src/problem/kernels/pointwise.c \
	src/problem/kernels/pool.c \
	src/problem/kernels/quantize.c \
	src/problem/kernels/reduce.c \
	src/problem/kernels/rnn.c \
	src/problem/kernels/space.c src/problem/kernels/space.h \
	src/problem/libraries.c src/problem/libraries.h \
	src/problem/problem.c src/problem/problem.h \
	src/problem/problem_check.c \
	src/problem/problem_cost.c \
	src/problem/problem_private.h \
	src/problem/problem_segments.c src/problem/problem_segments.h \
	src/problem/problem_text.c \
	src/problem/result.c src/problem/result.h \
	src/problem/shape.c \
	src/problem/stats.c src/problem/stats.h

check_PROGRAMS += tests/unit/t_problem
tests_unit_t_problem_LDADD = $(below_problem)
check_PROGRAMS += tests/unit/t_beside
tests_unit_t_beside_LDADD = $(below_problem)
check_PROGRAMS += tests/unit/t_expression
tests_unit_t_expression_LDADD = $(below_problem)
check_PROGRAMS += tests/unit/t_kernels
tests_unit_t_kernels_LDADD = $(below_problem)
check_PROGRAMS += tests/unit/t_execution
tests_unit_t_execution_LDADD = $(below_problem)
check_PROGRAMS += tests/unit/t_stats
tests_unit_t_stats_LDADD = $(below_problem)
