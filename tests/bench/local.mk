# make bench: what speed was promised, beside what people use today; not part of make check.
EXTRA_PROGRAMS += tests/bench/bench_graph tests/bench/bench_run tests/bench/bench_analyze
EXTRA_PROGRAMS += tests/bench/bench_frame
if HAVE_ONEDNN
EXTRA_PROGRAMS += tests/bench/bench_rows tests/bench/bench_pair
endif
CLEANFILES += tests/bench/bench_rows$(EXEEXT) tests/bench/bench_pair$(EXEEXT)
CLEANFILES += tests/bench/bench_graph$(EXEEXT) tests/bench/bench_run$(EXEEXT) tests/bench/bench_analyze$(EXEEXT)
CLEANFILES += tests/bench/bench_frame$(EXEEXT)
tests_bench_bench_graph_LDADD = $(below_ui)
tests_bench_bench_frame_LDADD = $(below_ui)
tests_bench_bench_run_LDADD =
tests_bench_bench_analyze_LDADD = $(below_analyze)
tests_bench_bench_rows_LDADD = librunner_onednn.a librunner_plain.a librunner_gemm.a $(below_host) -ldnnl
tests_bench_bench_rows_SOURCES = tests/bench/bench_rows.c tests/bench/bench_sides.h
tests_bench_bench_pair_LDADD = $(tests_bench_bench_rows_LDADD)
tests_bench_bench_pair_SOURCES = tests/bench/bench_pair.c tests/bench/bench_sides.h

benches = bench-open bench-graph bench-analyze bench-frame bench-cheap bench-ratio bench-rows bench-ones \
	bench-lines bench-repeat bench-load bench-quiet
bench: $(benches)
.PHONY: bench bench-before bench-planted $(benches)
bench_script = PATH='$(abs_builddir)/venv/bin':"$$PATH" python3 $(srcdir)/tests/bench
bench-open: benanza$(EXEEXT) tests/bench/bench_run$(EXEEXT)
	$(bench_script)/bench_open.py --builddir $(abs_builddir)
bench-graph: tests/bench/bench_graph$(EXEEXT)
	tests/bench/bench_graph$(EXEEXT)
bench-analyze: tests/bench/bench_analyze$(EXEEXT)
	tests/bench/bench_analyze$(EXEEXT)
bench-frame: tests/bench/bench_frame$(EXEEXT)
	tests/bench/bench_frame$(EXEEXT)
BENCH_CHEAP_FLAGS =
bench-cheap: $(bin_PROGRAMS)
	$(bench_script)/bench_cheap.py --benanza $(abs_builddir)/benanza $(BENCH_CHEAP_FLAGS) || test $$? -eq 77
BENCH_RATIO_FLAGS =
bench-ratio: $(bin_PROGRAMS)
	$(bench_script)/bench_ratio.py --benanza $(abs_builddir)/benanza $(BENCH_RATIO_FLAGS) || test $$? -eq 77
BENCH_ROWS_FLAGS =
bench-rows: tests/bench/bench_rows$(EXEEXT)
	$(bench_script)/bench_rows.py --builddir $(abs_builddir) $(BENCH_ROWS_FLAGS) || test $$? -eq 77
BENCH_ONES_FLAGS =
bench-ones: tests/bench/bench_pair$(EXEEXT)
	$(bench_script)/bench_ones.py --builddir $(abs_builddir) $(BENCH_ONES_FLAGS) || test $$? -eq 77
BENCH_LINES_FLAGS =
bench-lines: tests/bench/bench_pair$(EXEEXT)
	$(bench_script)/bench_lines.py --builddir $(abs_builddir) $(BENCH_LINES_FLAGS) || test $$? -eq 77
bench-repeat: benanza$(EXEEXT)
	$(bench_script)/bench_repeat.py --benanza $(abs_builddir)/benanza
BENCH_LOAD_FLAGS =
bench-load: $(bin_PROGRAMS)
	$(bench_script)/bench_load.py --benanza $(abs_builddir)/benanza $(BENCH_LOAD_FLAGS)
bench-quiet: benanza$(EXEEXT)
	$(bench_script)/bench_quiet.py --benanza $(abs_builddir)/benanza
# planted defects; on a quiet machine
bench-planted: benanza$(EXEEXT)
	BENANZA='$(abs_builddir)/benanza' $(bench_script)/planted_defects.py
# Against another build, usually the commit before: make bench-before BEFORE=DIR
bench-before: benanza$(EXEEXT) tests/bench/bench_run$(EXEEXT) tests/bench/bench_analyze$(EXEEXT)
	$(bench_script)/bench_before.py --before '$(BEFORE)' --builddir $(abs_builddir) $(BENCH_BEFORE_FLAGS)
