# analyze: bounds and what-ifs
noinst_LIBRARIES += libanalyze.a
libanalyze_a_SOURCES = \
	src/analyze/activation.c \
	src/analyze/advice.c src/analyze/advice_moves.c src/analyze/advice.h src/analyze/advice_private.h \
	src/analyze/analyze.c src/analyze/analyze.h \
	src/analyze/analyze_private.h \
	src/analyze/analyzer.c \
	src/analyze/assume.c src/analyze/assume.h \
	src/analyze/beside.c src/analyze/beside_private.h \
	src/analyze/beside_find.c src/analyze/beside_graph.c src/analyze/beside_match.c \
	src/analyze/candidates.c \
	src/analyze/charts.h src/analyze/charts_roofline.c src/analyze/charts_time.c \
	src/analyze/calibration.c src/analyze/calibration.h src/analyze/calibration_table.h \
	src/analyze/choose.c src/analyze/choose_chain.c src/analyze/choose_private.h \
	src/analyze/choose_besides.c src/analyze/choose_joins.c \
	src/analyze/comparable.c src/analyze/comparable.h src/analyze/comparable_private.h \
	src/analyze/comparable_shapes.c src/analyze/comparable_types.c \
	src/analyze/cost.c \
	src/analyze/critical_path.c \
	src/analyze/effects.c \
	src/analyze/fusion.c src/analyze/fusion_private.h \
	src/analyze/fusion_attention.c \
	src/analyze/fusion_bytes.c \
	src/analyze/fusion_chain.c \
	src/analyze/fusion_cluster.c \
	src/analyze/fusion_contest.c \
	src/analyze/fusion_join.c \
	src/analyze/fusion_norm.c \
	src/analyze/fusion_pad.c \
	src/analyze/fusion_rotary.c \
	src/analyze/fusion_transposed.c \
	src/analyze/fusion_triangle.c \
	src/analyze/interval.c src/analyze/interval_total.c \
	src/analyze/lanes.c \
	src/analyze/layouts.c \
	src/analyze/needed.c \
	src/analyze/limit.c src/analyze/limit.h \
	src/analyze/list.c \
	src/analyze/peaks.c src/analyze/peaks.h \
	src/analyze/peaks_measured.c \
	src/analyze/pick.c src/analyze/price.c src/analyze/price_roof.c \
	src/analyze/place.c src/analyze/place_private.h \
	src/analyze/place_ways.c \
	src/analyze/reality.c src/analyze/reality.h \
	src/analyze/reality_against.c \
	src/analyze/reality_groups.c \
	src/analyze/reality_overhead.c \
	src/analyze/reality_private.h \
	src/analyze/reality_turn.c \
	src/analyze/prices.c \
	src/analyze/ran.c src/analyze/ran.h \
	src/analyze/resources.c \
	src/analyze/roofline.c \
	src/analyze/scenario.h \
	src/analyze/sharing.c src/analyze/sharing.h \
	src/analyze/siblings.c \
	src/analyze/solve.c \
	src/analyze/study_chains.c src/analyze/study_graph.c \
	src/analyze/sweep.c src/analyze/sweep.h \
	src/analyze/tree.c src/analyze/tree.h \
	src/analyze/trust.c src/analyze/trust.h \
	src/analyze/whatif.c \
	src/analyze/memory.c src/analyze/memory.h \
	src/analyze/xsp.c src/analyze/xsp.h \
	src/analyze/xsp_costs.c \
	src/analyze/xsp_levels.c \
	src/analyze/xsp_private.h \
	src/analyze/xsp_tables.c

check_PROGRAMS += tests/unit/t_analyze
tests_unit_t_analyze_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_allow
tests_unit_t_allow_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_assume
tests_unit_t_assume_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_analyzer
tests_unit_t_analyzer_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_calibration
tests_unit_t_calibration_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_beside_choice
tests_unit_t_beside_choice_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_side_by_side
tests_unit_t_side_by_side_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_choose
tests_unit_t_choose_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_properties
tests_unit_t_properties_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_critical_path
tests_unit_t_critical_path_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_fusion
tests_unit_t_fusion_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_fusion_join
tests_unit_t_fusion_join_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_fusion_models
tests_unit_t_fusion_models_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_fusion_quant
tests_unit_t_fusion_quant_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_sweep
tests_unit_t_sweep_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_golden
tests_unit_t_golden_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_hostile
tests_unit_t_hostile_SOURCES = tests/unit/t_hostile.c tests/fuzz/fuzz.c
tests_unit_t_hostile_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_inside
tests_unit_t_inside_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_interval
tests_unit_t_interval_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_limit
tests_unit_t_limit_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_layouts
tests_unit_t_layouts_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_overhead
tests_unit_t_overhead_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_reality
tests_unit_t_reality_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_recorded
tests_unit_t_recorded_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_roofline
tests_unit_t_roofline_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_above_peak
tests_unit_t_above_peak_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_advice
tests_unit_t_advice_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_sides
tests_unit_t_sides_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_whatif
tests_unit_t_whatif_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_xsp
tests_unit_t_xsp_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_sharing
tests_unit_t_sharing_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_tree
tests_unit_t_tree_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_trust
tests_unit_t_trust_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_plain
tests_unit_t_plain_LDADD = $(below_analyze)
