# plan: the model bound to sizes: layers, the DAG, distinct problems
noinst_LIBRARIES += libplan.a
libplan_a_SOURCES = \
	src/plan/given_use.c \
	src/plan/plan.c src/plan/plan.h \
	src/plan/plan_private.h \
	src/plan/plan_write.c \
	src/plan/infer/control.c \
	src/plan/infer/control_loop.c \
	src/plan/infer/infer.c \
	src/plan/quant/quant.c \
	src/plan/quant/quant_find.c \
	src/plan/quant/quant_move.c \
	src/plan/quant/quant_price.c \
	src/plan/quant/quant_raw.c \
	src/plan/quant/quant_search.h \
	src/plan/quant/quant_weights.c \
	src/plan/value/bind.c \
	src/plan/value/given.c \
	src/plan/value/needs.c \
	src/plan/value/plan_value.c \
	src/plan/value/short_name.c src/plan/value/short_name.h \
	src/plan/work/dag.c \
	src/plan/work/dedup.c \
	src/plan/work/fold.c \
	src/plan/work/layout.c \
	src/plan/work/pad.c \
	src/plan/work/types.c

check_PROGRAMS += tests/unit/t_quant
tests_unit_t_quant_LDADD = $(below_plan)
check_PROGRAMS += tests/unit/t_plan
tests_unit_t_plan_LDADD = $(below_plan)
check_PROGRAMS += tests/unit/t_types
tests_unit_t_types_LDADD = $(below_plan)
check_PROGRAMS += tests/unit/t_plans
tests_unit_t_plans_LDADD = $(below_plan)
check_PROGRAMS += tests/unit/t_layout
# make_plan.h has results too
tests_unit_t_layout_LDADD = $(below_store)
check_PROGRAMS += tests/unit/t_control
tests_unit_t_control_LDADD = $(below_plan)
