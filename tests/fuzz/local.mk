# make check runs every seed and every finding through the fuzz targets; with --enable-fuzzing they look for more.
fuzz_programs = tests/fuzz/fuzz_config$(EXEEXT) tests/fuzz/fuzz_graph$(EXEEXT) tests/fuzz/fuzz_infer$(EXEEXT) \
	tests/fuzz/fuzz_model$(EXEEXT) tests/fuzz/fuzz_ops$(EXEEXT) tests/fuzz/fuzz_problem$(EXEEXT) \
	tests/fuzz/fuzz_profile$(EXEEXT) \
	tests/fuzz/fuzz_wire$(EXEEXT)
EXTRA_PROGRAMS += $(fuzz_programs)
CLEANFILES += $(fuzz_programs)
check_DATA += $(fuzz_programs)
tests/faults/fuzz.log: $(fuzz_programs)
fuzz_common = tests/fuzz/fuzz.c
if !FUZZING
fuzz_common += tests/fuzz/fuzz_main.c
endif
fuzz_libs = $(below_analyze) $(FUZZING_LIBS)
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c $(fuzz_common)
tests_fuzz_fuzz_config_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_graph_SOURCES = tests/fuzz/fuzz_graph.c $(fuzz_common)
tests_fuzz_fuzz_graph_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_infer_SOURCES = tests/fuzz/fuzz_infer.c $(fuzz_common)
tests_fuzz_fuzz_infer_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_model_SOURCES = tests/fuzz/fuzz_model.c $(fuzz_common)
tests_fuzz_fuzz_model_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_ops_SOURCES = tests/fuzz/fuzz_ops.c tests/fuzz/fuzz_mutate.c $(ops_cases) $(fuzz_common)
tests_fuzz_fuzz_ops_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_problem_SOURCES = tests/fuzz/fuzz_problem.c $(fuzz_common)
tests_fuzz_fuzz_problem_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz_profile.c $(fuzz_common)
tests_fuzz_fuzz_profile_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c $(fuzz_common)
tests_fuzz_fuzz_wire_LDADD = $(fuzz_libs)
$(tests_fuzz_fuzz_graph_OBJECTS): tests/fuzz/fuzz_attributes.h
CLEANFILES += tests/fuzz/fuzz_attributes.h
tests/fuzz/fuzz_attributes.h: tests/fuzz/attributes.sh $(wildcard $(srcdir)/tests/ops/*.case)
	$(AM_V_GEN)$(MKDIR_P) tests/fuzz && sh $(srcdir)/tests/fuzz/attributes.sh $(srcdir) > $@
