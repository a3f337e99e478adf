# commands: the command line
noinst_LIBRARIES += libcommands.a
libcommands_a_SOURCES = \
	src/commands/agents.c src/commands/agents.h \
	src/commands/bench.h \
	src/commands/bench_drain.c \
	src/commands/bench_eta.c src/commands/bench_eta.h \
	src/commands/bench_jobs.c \
	src/commands/bench_quick.c \
	src/commands/benchdnn.c src/commands/benchdnn.h \
	src/commands/cmd_advise.c \
	src/commands/cmd_bench.c \
	src/commands/cmd_bound.c \
	src/commands/cmd_compare.c \
	src/commands/cmd_db.c \
	src/commands/cmd_devices.c \
	src/commands/cmd_diff.c \
	src/commands/cmd_doctor.c \
	src/commands/cmd_explore.c \
	src/commands/cmd_help.c \
	src/commands/cmd_layers.c \
	src/commands/cmd_models.c \
	src/commands/cmd_sweep.c \
	src/commands/cmd_ops.c \
	src/commands/cmd_report.c \
	src/commands/cmd_repro.c \
	src/commands/cmd_scenarios.c \
	src/commands/command.h \
	src/commands/command_table.c \
	src/commands/commands.c \
	src/commands/compare.h \
	src/commands/compare_tables.c \
	src/commands/completion.c src/commands/completion.h \
	src/commands/db.h \
	src/commands/db_batch.c src/commands/db_batch.h \
	src/commands/db_export.c \
	src/commands/db_google.c src/commands/db_google.h \
	src/commands/db_google_file.c \
	src/commands/db_import.c \
	src/commands/db_merge.c \
	src/commands/each.c src/commands/each.h \
	src/commands/interrupt.c src/commands/interrupt.h \
	src/commands/tour.c src/commands/tour.h \
	src/commands/keep.c src/commands/keep.h \
	src/commands/tour.c src/commands/tour.h \
	src/commands/option_groups.c \
	src/commands/option_unknown.c \
	src/commands/option_values.c \
	src/commands/options.c \
	src/commands/reach.c src/commands/reach.h \
	src/commands/report.h \
	src/commands/report_advice.c \
	src/commands/report_besides.c \
	src/commands/report_bound.c \
	src/commands/report_bound_json.c \
	src/commands/report_bound_uses.c \
	src/commands/report_bound_dot.c \
	src/commands/report_charts.c src/commands/report_html.h \
	src/commands/report_bound_html.c \
	src/commands/report_compare.c \
	src/commands/report_compare_json.c \
	src/commands/report_exports.c \
	src/commands/report_layers.c \
	src/commands/report_reach.c \
	src/commands/report_trace.c \
	src/commands/report_try.c \
	src/commands/try.c src/commands/try.h \
	src/commands/wanted.c src/commands/wanted.h

# the layers of many models at once (tests/lib/python_tap.py)
EXTRA_PROGRAMS += tests/unit/many
CLEANFILES += tests/unit/many$(EXEEXT) node_cases.*
tests_unit_many_LDADD = libcommands.a $(below_ui)
EXTRA_tests_unit_many_DEPENDENCIES = benanza$(EXEEXT)
$(addprefix tests/,$(addsuffix .log,onnx/onnx_functions onnx/onnx_inference onnx/onnx_nodes \
	onnx/onnx_symbols onnx/onnx_values ort/ort_contrib ort/ort_ops ort/ort_graphs)): \
	tests/unit/many$(EXEEXT)

# completion of shells, in the folders in which they look
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = completion/benanza
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = completion/_benanza
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_fishcompletion_DATA = completion/benanza.fish
completion_files = completion/benanza completion/_benanza completion/benanza.fish
CLEANFILES += $(completion_files)
completion/benanza: completion_shell = bash
completion/_benanza: completion_shell = zsh
completion/benanza.fish: completion_shell = fish
# no user's configuration is read
$(completion_files): benanza$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completion && BENANZA_CONFIG= XDG_CONFIG_HOME='$(abs_builddir)/completion' \
	./benanza help --completion $(completion_shell) > $@.tmp && mv $@.tmp $@
