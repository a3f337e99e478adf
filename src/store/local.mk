# store: results in SQLite
noinst_LIBRARIES += libstore.a
libstore_a_SOURCES = \
	src/store/executions.c src/store/executions.h \
	src/store/migrate.c \
	src/store/results.c src/store/results.h src/store/results_pool.c src/store/results_private.h \
	src/store/store.c src/store/store.h \
	src/store/store_check.c \
	src/store/store_foreign.c src/store/store_foreign.h \
	src/store/store_keep.c \
	src/store/store_place.c \
	src/store/store_private.h \
	src/store/store_repair.c src/store/store_results.c \
	src/store/store_rows.c \
	src/store/store_sql.c \
	src/store/store_wait.c
nodist_libstore_a_SOURCES = src/store/schema_sql.h
BUILT_SOURCES += src/store/schema_sql.h
CLEANFILES += src/store/schema_sql.h
EXTRA_DIST += data/schema.sql data/schema_3.sql data/schema_4.sql
src/store/schema_sql.h: data/schema.sql data/schema_3.sql data/schema_4.sql tools/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/store && for name in schema schema_3 schema_4; do \
		sh $(srcdir)/tools/embed.sh $${name}_sql < $(srcdir)/data/$$name.sql || exit 1; done > $@
src/store/migrate.$(OBJEXT): src/store/schema_sql.h

check_PROGRAMS += tests/unit/t_results
tests_unit_t_results_LDADD = $(below_store)
check_PROGRAMS += tests/unit/t_foreign
tests_unit_t_foreign_LDADD = $(below_store)
check_PROGRAMS += tests/unit/t_keep
tests_unit_t_keep_LDADD = $(below_store)
check_PROGRAMS += tests/unit/t_place
tests_unit_t_place_LDADD = $(below_store)
check_PROGRAMS += tests/unit/t_store
tests_unit_t_store_LDADD = $(below_store)
check_PROGRAMS += tests/unit/t_executions
tests_unit_t_executions_LDADD = $(below_store)
