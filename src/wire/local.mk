# wire: the protocol between benanza and its runners
noinst_LIBRARIES += libwire.a
libwire_a_SOURCES = \
	src/wire/wire.c src/wire/wire.h

check_PROGRAMS += tests/unit/t_wire
tests_unit_t_wire_LDADD = $(below_wire)
