# analyze: bounds and what-ifs, in boxes (docs/architecture.md), an archive each
noinst_LIBRARIES += libanalyze_scenario.a
libanalyze_scenario_a_SOURCES = \
	src/analyze/scenario/assume.c \
	src/analyze/scenario/assume.h \
	src/analyze/scenario/ran.c \
	src/analyze/scenario/ran.h \
	src/analyze/scenario/scenario.h \
	src/analyze/scenario/whatif.c
noinst_LIBRARIES += libanalyze_roof.a
libanalyze_roof_a_SOURCES = \
	src/analyze/roof/calibration.c \
	src/analyze/roof/calibration.h \
	src/analyze/roof/calibration_table.h \
	src/analyze/roof/interval.c \
	src/analyze/roof/interval.h \
	src/analyze/roof/peaks.c \
	src/analyze/roof/peaks.h \
	src/analyze/roof/peaks_measured.c \
	src/analyze/roof/roof.h \
	src/analyze/roof/roofline.c
noinst_LIBRARIES += libanalyze_fusion.a
libanalyze_fusion_a_SOURCES = \
	src/analyze/fusion/activation.c \
	src/analyze/fusion/fusion.c \
	src/analyze/fusion/fusion.h \
	src/analyze/fusion/fusion_attention.c \
	src/analyze/fusion/fusion_bytes.c \
	src/analyze/fusion/fusion_chain.c \
	src/analyze/fusion/fusion_cluster.c \
	src/analyze/fusion/fusion_contest.c \
	src/analyze/fusion/fusion_join.c \
	src/analyze/fusion/fusion_norm.c \
	src/analyze/fusion/fusion_pad.c \
	src/analyze/fusion/fusion_private.h \
	src/analyze/fusion/fusion_rotary.c \
	src/analyze/fusion/fusion_transposed.c \
	src/analyze/fusion/fusion_triangle.c
noinst_LIBRARIES += libanalyze_study.a
libanalyze_study_a_SOURCES = \
	src/analyze/study/ground.h \
	src/analyze/study/layouts.c \
	src/analyze/study/layouts.h \
	src/analyze/study/list.c \
	src/analyze/study/list.h \
	src/analyze/study/pick.c \
	src/analyze/study/price.c \
	src/analyze/study/price.h \
	src/analyze/study/price_roof.c \
	src/analyze/study/prices.c \
	src/analyze/study/siblings.c \
	src/analyze/study/study.h \
	src/analyze/study/study_chains.c \
	src/analyze/study/study_graph.c
noinst_LIBRARIES += libanalyze_choose.a
libanalyze_choose_a_SOURCES = \
	src/analyze/choose/choose.c \
	src/analyze/choose/choose_chain.c \
	src/analyze/choose/choose_joins.c \
	src/analyze/choose/choose_private.h \
	src/analyze/choose/cost.c \
	src/analyze/choose/critical_path.c \
	src/analyze/choose/critical_path.h \
	src/analyze/choose/layer_cost.h \
	src/analyze/choose/place.c \
	src/analyze/choose/place_private.h \
	src/analyze/choose/place_ways.c \
	src/analyze/choose/resources.c \
	src/analyze/choose/solution.h \
	src/analyze/choose/solve.c
noinst_LIBRARIES += libanalyze_branches.a
libanalyze_branches_a_SOURCES = \
	src/analyze/branches/beside.c \
	src/analyze/branches/beside_find.c \
	src/analyze/branches/beside_graph.c \
	src/analyze/branches/beside_match.c \
	src/analyze/branches/beside_private.h \
	src/analyze/branches/besides.h \
	src/analyze/branches/candidates.c \
	src/analyze/branches/choose_besides.c
noinst_LIBRARIES += libanalyze_bound.a
libanalyze_bound_a_SOURCES = \
	src/analyze/analyze.h \
	src/analyze/bound/analysis.h \
	src/analyze/bound/analyze.c \
	src/analyze/bound/analyzer.c \
	src/analyze/bound/analyzer.h \
	src/analyze/bound/bound_private.h \
	src/analyze/bound/effects.c \
	src/analyze/bound/interval_total.c \
	src/analyze/bound/lanes.c \
	src/analyze/bound/limit.c \
	src/analyze/bound/limit.h \
	src/analyze/bound/memory.c \
	src/analyze/bound/memory.h \
	src/analyze/bound/needed.c
noinst_LIBRARIES += libanalyze_real.a
libanalyze_real_a_SOURCES = \
	src/analyze/real/comparable.c \
	src/analyze/real/comparable.h \
	src/analyze/real/comparable_private.h \
	src/analyze/real/comparable_shapes.c \
	src/analyze/real/comparable_types.c \
	src/analyze/real/reality.c \
	src/analyze/real/reality.h \
	src/analyze/real/reality_against.c \
	src/analyze/real/reality_groups.c \
	src/analyze/real/reality_overhead.c \
	src/analyze/real/reality_private.h \
	src/analyze/real/reality_turn.c \
	src/analyze/real/tree.c \
	src/analyze/real/tree.h \
	src/analyze/real/trust.c \
	src/analyze/real/trust.h
noinst_LIBRARIES += libanalyze_tables.a
libanalyze_tables_a_SOURCES = \
	src/analyze/tables/charts.h \
	src/analyze/tables/charts_roofline.c \
	src/analyze/tables/charts_time.c \
	src/analyze/tables/sharing.c \
	src/analyze/tables/sharing.h \
	src/analyze/tables/sweep.c \
	src/analyze/tables/sweep.h \
	src/analyze/tables/xsp.c \
	src/analyze/tables/xsp.h \
	src/analyze/tables/xsp_costs.c \
	src/analyze/tables/xsp_levels.c \
	src/analyze/tables/xsp_private.h \
	src/analyze/tables/xsp_tables.c
noinst_LIBRARIES += libanalyze_advice.a
libanalyze_advice_a_SOURCES = \
	src/analyze/advice/advice.c \
	src/analyze/advice/advice.h \
	src/analyze/advice/advice_moves.c \
	src/analyze/advice/advice_private.h

check_PROGRAMS += tests/unit/t_analyze
tests_unit_t_analyze_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_allow
tests_unit_t_allow_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_assume
tests_unit_t_assume_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_analyzer
tests_unit_t_analyzer_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_calibration
tests_unit_t_calibration_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_beside_choice
tests_unit_t_beside_choice_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_side_by_side
tests_unit_t_side_by_side_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_choose
tests_unit_t_choose_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_properties
tests_unit_t_properties_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_critical_path
tests_unit_t_critical_path_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_fusion
tests_unit_t_fusion_LDADD = $(below_analyze_fusion)
check_PROGRAMS += tests/unit/t_fusion_join
tests_unit_t_fusion_join_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_fusion_models
tests_unit_t_fusion_models_LDADD = $(below_analyze_fusion)
check_PROGRAMS += tests/unit/t_fusion_quant
tests_unit_t_fusion_quant_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_sweep
tests_unit_t_sweep_LDADD = $(below_analyze_tables)
check_PROGRAMS += tests/unit/t_golden
tests_unit_t_golden_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_hostile
tests_unit_t_hostile_SOURCES = tests/unit/t_hostile.c tests/fuzz/fuzz.c
tests_unit_t_hostile_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_inside
tests_unit_t_inside_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_interval
tests_unit_t_interval_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_limit
tests_unit_t_limit_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_layouts
tests_unit_t_layouts_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_overhead
tests_unit_t_overhead_LDADD = $(below_analyze_real)
check_PROGRAMS += tests/unit/t_reality
tests_unit_t_reality_LDADD = $(below_analyze_real)
check_PROGRAMS += tests/unit/t_recorded
tests_unit_t_recorded_LDADD = $(below_analyze_tables)
check_PROGRAMS += tests/unit/t_roofline
tests_unit_t_roofline_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_above_peak
tests_unit_t_above_peak_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_advice
tests_unit_t_advice_LDADD = $(below_analyze)
check_PROGRAMS += tests/unit/t_sides
tests_unit_t_sides_LDADD = $(below_analyze_bound)
check_PROGRAMS += tests/unit/t_whatif
tests_unit_t_whatif_LDADD = $(below_analyze_scenario)
check_PROGRAMS += tests/unit/t_xsp
tests_unit_t_xsp_LDADD = $(below_analyze_tables)
check_PROGRAMS += tests/unit/t_sharing
tests_unit_t_sharing_LDADD = $(below_analyze_tables)
check_PROGRAMS += tests/unit/t_tree
tests_unit_t_tree_LDADD = $(below_analyze_real)
check_PROGRAMS += tests/unit/t_trust
tests_unit_t_trust_LDADD = $(below_analyze_real)
check_PROGRAMS += tests/unit/t_plain
tests_unit_t_plain_LDADD = $(below_analyze_study)
