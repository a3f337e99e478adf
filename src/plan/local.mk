# plan: the model bound to sizes: layers, the DAG, distinct problems
noinst_LIBRARIES += libplan.a
libplan_a_SOURCES = \
	src/plan/bind.c \
	src/plan/control.c \
	src/plan/control_loop.c \
	src/plan/dag.c \
	src/plan/dedup.c \
	src/plan/fold.c \
	src/plan/given.c \
	src/plan/given_use.c \
	src/plan/infer.c \
	src/plan/layout.c \
	src/plan/needs.c \
	src/plan/pad.c \
	src/plan/plan.c src/plan/plan.h \
	src/plan/plan_value.c \
	src/plan/plan_private.h \
	src/plan/plan_write.c \
	src/plan/quant.c \
	src/plan/quant_find.c \
	src/plan/quant_move.c \
	src/plan/quant_price.c \
	src/plan/quant_raw.c \
	src/plan/quant_search.h \
	src/plan/quant_weights.c \
	src/plan/short_name.c src/plan/short_name.h \
	src/plan/types.c

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
