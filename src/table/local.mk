# table: what reports and views show as rows, and the printers of any table
noinst_LIBRARIES += libtable.a
libtable_a_SOURCES = \
	src/table/lines.c src/table/lines.h \
	src/table/print.h \
	src/table/print_csv.c \
	src/table/print_html.c \
	src/table/print_json.c \
	src/table/print_text.c \
	src/table/table.c src/table/table.h \
	src/table/tables/advice.c src/table/tables/advice.h \
	src/table/tables/costs.c src/table/tables/costs.h \
	src/table/tables/devices.c src/table/tables/devices.h \
	src/table/tables/diff.c src/table/tables/diff.h \
	src/table/tables/effects.c \
	src/table/tables/layers.c src/table/tables/layers.h \
	src/table/tables/models.c src/table/tables/models.h \
	src/table/tables/ops.c src/table/tables/ops.h \
	src/table/tables/scenarios.c src/table/tables/scenarios.h \
	src/table/tables/sweep.c src/table/tables/sweep.h \
	src/table/tables/total.c src/table/tables/total.h \
	src/table/tables/xsp.c src/table/tables/xsp.h

check_PROGRAMS += tests/unit/t_table
tests_unit_t_table_LDADD = $(below_table)
