# wire: the protocol between benanza and its runners
noinst_LIBRARIES += libwire.a
libwire_a_SOURCES = \
	src/wire/wire.c src/wire/wire.h \
	src/wire/wire_execution.c \
	src/wire/wire_hello.c \
	src/wire/wire_json.c \
	src/wire/wire_private.h \
	src/wire/wire_trial.c

check_PROGRAMS += tests/unit/t_wire
tests_unit_t_wire_LDADD = $(below_wire)
check_PROGRAMS += tests/unit/t_wire_model
tests_unit_t_wire_model_LDADD = $(below_wire)
