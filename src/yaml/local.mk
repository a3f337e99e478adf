# yaml: YAML files, read and written
noinst_LIBRARIES += libyaml_room.a
libyaml_room_a_SOURCES = \
	src/yaml/yaml_read.c src/yaml/yaml_read.h \
	src/yaml/yaml_write.c src/yaml/yaml_write.h

check_PROGRAMS += tests/unit/t_yaml
tests_unit_t_yaml_LDADD = $(below_yaml)
