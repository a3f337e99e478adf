# Tests of the whole program, by folder. A unit test stands in its room's local.mk.
# programs that tests run
check_DATA = tests/unit/fake_runner$(EXEEXT) tests/unit/many$(EXEEXT) tests/unit/write_layers$(EXEEXT)
test_scripts = \
	tests/additions/additions.py \
	tests/cli/advise.sh tests/cli/analysis.sh tests/cli/assume.sh tests/cli/agents.sh \
	tests/cli/batch.sh tests/cli/bench.sh tests/cli/cli.sh tests/cli/compare.sh tests/cli/db_google.py \
	tests/cli/diff.sh \
	tests/cli/executions.sh tests/cli/completion.sh tests/cli/exports.py tests/cli/fold.py \
	tests/cli/help.sh tests/cli/libraries.sh tests/cli/merge.sh tests/cli/models.sh tests/cli/planted.py \
	tests/cli/paths.sh tests/cli/piped.py tests/cli/private.sh tests/cli/outliers.py \
	tests/cli/refused.py tests/cli/operators.py tests/cli/cases.py \
	tests/cli/repro.sh tests/cli/scenarios.sh tests/cli/sweep.sh tests/cli/quick.sh tests/cli/svg.py \
	tests/cli/trust.sh tests/cli/own_types.py tests/cli/workflows.sh tests/cli/try.sh tests/cli/turn.sh \
	tests/cli/side_by_side.sh \
	tests/faults/escapes.py tests/faults/faults.py tests/faults/fuzz.sh tests/faults/hostile.py \
	tests/faults/interrupt.py tests/faults/kill.py tests/faults/mistrusted.sh \
	tests/faults/monkey.py tests/faults/slow_files.py tests/faults/terminal.py \
	tests/figures/authors_results.py tests/figures/calibration.py tests/figures/compare_files.py \
	tests/figures/models_figures.py tests/figures/models_ort.py tests/figures/paper_table.py \
	tests/figures/real_models.py \
	tests/flow/flow_agent.sh tests/flow/flow_beside.sh tests/flow/flow_charts.sh \
	tests/flow/flow_command.sh tests/flow/flow_devices.sh tests/flow/flow_help.sh \
	tests/flow/flow_dims.sh \
	tests/flow/flow_inside.sh tests/flow/flow_keep.sh tests/flow/flow_measure.sh \
	tests/flow/flow_models.sh tests/flow/flow_move.sh tests/flow/flow_queue.sh tests/flow/flow_resize.sh \
	tests/flow/flow_what_if.sh \
	tests/flow/terminals.py \
	tests/flow/flow_terminal.sh tests/flow/flow_tour.sh tests/flow/flow_views.sh \
	tests/flow/flow_write.sh \
	tests/runner/check_gpu.sh \
	tests/gpu/gpu_results.py tests/gpu/manifest_plan.py tests/gpu/recipe.py tests/gpu/tiers.py \
	tests/lint/check_rooms.py tests/lint/circles.py tests/lint/docs.py tests/lint/format.py \
	tests/lint/headers.py tests/lint/operators_page.sh tests/lint/readme.sh tests/lint/room_tests.py \
	tests/lint/suite.sh tests/lint/words.py \
	tests/onnx/onnx_attention.py tests/onnx/onnx_functions.py tests/onnx/onnx_inference.py \
	tests/onnx/onnx_nodes.py tests/onnx/onnx_pad.py tests/onnx/onnx_symbols.py \
	tests/onnx/onnx_values.py tests/onnx/onnx_variants.py \
	tests/ort/agents_run.sh tests/ort/brought.py tests/ort/compare_ort.py tests/ort/control_flow.py \
	tests/ort/fused_groups.py tests/ort/ort_contrib.py tests/ort/ort_graphs.py tests/ort/ort_ops.py \
	tests/ort/measured.py tests/ort/ort_types.py tests/ort/profiles.py tests/ort/quantized.py \
	tests/ort/write_onnx.py \
	tests/runner/cuda_code.py tests/runner/cudnn_plan.py tests/runner/few_bits.py \
	tests/runner/machine_code.py \
	tests/runner/measuring.sh tests/runner/remote_slurm.sh tests/runner/remote_ssh.sh \
	tests/runner/runner_cpu.sh tests/runner/runner_cuda.sh tests/runner/runner_isa.py \
	tests/bench/bench_figures.py \
	tests/agents/agents_builtin.sh tests/agents/agents_compare.py tests/agents/agents_models.py \
	tests/agents/agents_parts.py tests/agents/agents_pytorch.py tests/agents/agents_trtexec.py \
	tests/agents/agents_wire.py

# The scripts of each room: those that can notice a change in it (% is any text). A box has its own row,
# or its room's. tools/mutate.py runs them; tests/lint/room_tests.py checks that each script is in a row.
scripts_of_base = tests/cli/% tests/faults/escapes.py
scripts_of_problem = tests/cli/% tests/figures/authors_results.py
scripts_of_yaml = tests/cli/% tests/flow/flow_dims.sh
scripts_of_model = tests/onnx/% tests/figures/models_% tests/figures/real_models.py tests/cli/cli.sh \
	tests/cli/models.sh tests/cli/repro.sh tests/faults/fuzz.sh tests/faults/hostile.py \
	tests/ort/write_onnx.py
scripts_of_ops = tests/onnx/% tests/ort/% tests/figures/% tests/lint/operators_page.sh
scripts_of_plan = tests/cli/% tests/onnx/% tests/ort/% tests/figures/%
scripts_of_config = tests/cli/% tests/flow/flow_dims.sh tests/flow/flow_devices.sh
scripts_of_store = tests/cli/% tests/faults/faults.py tests/faults/interrupt.py tests/faults/kill.py
scripts_of_wire = tests/cli/% tests/agents/% tests/runner/% tests/faults/mistrusted.sh
scripts_of_drive = tests/cli/% tests/agents/% tests/runner/% tests/faults/faults.py tests/faults/kill.py \
	tests/faults/mistrusted.sh tests/flow/flow_agent.sh tests/flow/flow_devices.sh \
	tests/flow/flow_measure.sh tests/flow/flow_queue.sh
scripts_of_profile = tests/cli/% tests/faults/slow_files.py tests/figures/authors_results.py \
	tests/figures/compare_files.py \
	tests/ort/profiles.py
scripts_of_analyze = tests/cli/% tests/figures/% tests/gpu/gpu_results.py tests/onnx/onnx_attention.py \
	tests/onnx/onnx_pad.py tests/ort/fused_groups.py
scripts_of_doctor = tests/cli/%
scripts_of_session = tests/cli/% tests/flow/% tests/lint/readme.sh
scripts_of_table = tests/cli/%
scripts_of_ui = tests/flow/% tests/cli/exports.py tests/cli/svg.py tests/cli/trust.sh tests/cli/workflows.sh \
	tests/faults/escapes.py tests/faults/monkey.py tests/faults/terminal.py tests/lint/readme.sh
scripts_of_commands = tests/cli/% tests/faults/faults.py tests/faults/hostile.py tests/faults/interrupt.py \
	tests/faults/kill.py tests/gpu/gpu_results.py
scripts_of_runner = tests/runner/% tests/gpu/% tests/cli/help.sh tests/cli/libraries.sh tests/cli/cli.sh \
	tests/faults/mistrusted.sh
scripts_of_agents = tests/agents/% tests/ort/agents_run.sh tests/cli/agents.sh tests/cli/try.sh \
	tests/cli/turn.sh
# these read sources, or test tools
scripts_of_none = tests/additions/additions.py \
	tests/lint/check_rooms.py tests/lint/circles.py tests/lint/docs.py tests/lint/format.py \
	tests/lint/headers.py tests/lint/room_tests.py tests/lint/suite.sh tests/lint/words.py tests/bench/%

TESTS = $(check_PROGRAMS) $(test_scripts)
TEST_EXTENSIONS = .sh .py
TEST_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(srcdir)/tests/lib/driver.sh
LOG_DRIVER = $(TEST_LOG_DRIVER)
SH_LOG_DRIVER = $(TEST_LOG_DRIVER)
PY_LOG_DRIVER = $(TEST_LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = python3
AM_TESTS_ENVIRONMENT = PATH='$(abs_builddir)/venv/bin':"$$PATH"; export PATH; \
	ORT_DISABLE_TELEMETRY=1; export ORT_DISABLE_TELEMETRY; \
	LANGUAGE= LC_ALL=C.UTF-8 TZ=UTC srcdir='$(srcdir)' builddir='$(abs_builddir)' \
	abs_srcdir='$(abs_srcdir)' BENANZA='$(abs_builddir)/benanza' \
	LSAN_OPTIONS='suppressions=$(abs_srcdir)/tests/lib/lsan.supp:print_suppressions=0'; export LSAN_OPTIONS; \
	BENANZA_SHARED='$(abs_srcdir)/../shared'; \
	export LANGUAGE LC_ALL TZ srcdir builddir abs_srcdir BENANZA BENANZA_SHARED;
tests/runner/remote_ssh.log tests/runner/remote_slurm.log: tests/unit/fake_runner$(EXEEXT)
tests/faults/monkey.log: tests/unit/fake_runner$(EXEEXT)
tests/faults/mistrusted.log: tests/faults/wrong_onednn.so
tests/lint/operators_page.log tests/lint/readme.log: benanza$(EXEEXT)
tests/lint/circles.log: $(noinst_LIBRARIES)

# Replaces automake's rule: lints run first, and a failed one ends the suite unless make keeps going (-k); the
# last line says how many checks passed, failed and were skipped.
lint_logs = $(filter tests/lint/%, $(TEST_LOGS))
summary = python3 $(srcdir)/tests/lib/summary.py
keeps_going = $(findstring k,$(firstword -$(MAKEFLAGS)))
only_prints = $(findstring n,$(firstword -$(MAKEFLAGS)))
run_tests = test -n '$(strip $(if $(only_prints),,$(TEST_LOGS)))' || exit 0; \
	rm -f $(TEST_LOGS) $(TEST_LOGS:.log=.trs); \
	$(if $(lint_logs), $(MAKE) -s $(AM_MAKEFLAGS) $(lint_logs); \
		$(summary) --failures $(lint_logs) || test -n '$(keeps_going)' || exit 1;) \
	$(MAKE) -s $(AM_MAKEFLAGS) $(TEST_LOGS); $(summary) $(TEST_LOGS)
check-TESTS: $(check_PROGRAMS) $(check_DATA)
	+@$(run_tests)

# Under a minute: the lints, and the unit tests of what differs from the main branch.
check-quick: $(BUILT_SOURCES)
	@tests=`python3 $(srcdir)/tests/lib/quick.py $(TESTS)` && \
	$(MAKE) $(AM_MAKEFLAGS) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j`nproc`) \
		check-these TESTS="$$tests"
# scripts run the programs
check-these: $(if $(filter-out tests/lint/%,$(filter %.sh %.py,$(TESTS))), \
	$(bin_PROGRAMS) $(check_DATA) tests/unit/fake_runner$(EXEEXT))
	+@$(run_tests)
.PHONY: check-quick check-these

# With -j tests run at the same time. Those that other work would hold up too much come last, one after
# another: the real runner measures a model or peaks on all cores, or times of a framework are compared.
measuring_tests = \
	tests/agents/agents_models.py tests/faults/mistrusted.sh tests/ort/measured.py \
	tests/runner/measuring.sh
measuring_logs = $(filter $(addsuffix .log,$(basename $(measuring_tests))), $(TEST_LOGS))
$(measuring_logs): | $(filter-out $(measuring_logs), $(TEST_LOGS))
$(foreach log, $(measuring_logs), $(eval $(log): | $(log_before))$(eval log_before = $(log)))

# a library that computes wrongly
check_DATA += tests/faults/wrong_onednn.so
CLEANFILES += tests/faults/wrong_onednn.so
tests/faults/wrong_onednn.so: tests/faults/wrong_onednn.c
	$(AM_V_CC)$(MKDIR_P) tests/faults && \
	$(CC) $(CPPFLAGS) -Wall -shared -fPIC -o $@ $(srcdir)/tests/faults/wrong_onednn.c -ldl

# outside the suite: what the suite asks in part every day (CHECK_LONG in the test), asked in full
long_tests = \
	tests/additions/additions.py \
	tests/cuda_on_cpu/t_pointwise tests/faults/hostile.py tests/figures/calibration.py \
	tests/figures/models_ort.py \
	tests/gpu/gpu_results.py tests/gpu/manifest_plan.py tests/runner/cudnn_plan.py \
	tests/runner/machine_code.py tests/unit/t_charts tests/unit/t_cudnn_plan
check-long: all
	+$(SHELL) $(srcdir)/tests/lib/check_long.sh '$(srcdir)' '$(MAKE)' $(long_tests)
# outside the suite: the newest onnx and ONNX Runtime, in a directory of their own
check-newest: benanza$(EXEEXT)
	$(SHELL) $(srcdir)/tests/packages/check_newest.sh '$(abs_srcdir)' '$(abs_builddir)'
# outside the suite: all tests, or TESTS="...", next year on another machine
check-elsewhere: all
	bash $(srcdir)/tests/packages/check_elsewhere.sh '$(abs_builddir)' \
		$(if $(filter command line,$(origin TESTS)),TESTS='$(TESTS)')
CLEANFILES += tests/seconds.txt tests/totals.txt
DISTCLEANFILES += check-long.when
.PHONY: check-long check-newest check-elsewhere
