# config: options and the configuration file
noinst_LIBRARIES += libconfig.a
libconfig_a_SOURCES = \
	src/config/config.c src/config/config.h \
	src/config/config_operators.c \
	src/config/config_private.h \
	src/config/config_scenarios.c \
	src/config/config_yaml.c \
	src/config/option_print.c \
	src/config/option_table.c src/config/option_table.h

check_PROGRAMS += tests/unit/t_config
tests_unit_t_config_LDADD = $(below_config)
# plans a model with its sidecar, so it links config
EXTRA_PROGRAMS += tests/unit/write_layers
CLEANFILES += tests/unit/write_layers$(EXEEXT)
tests_unit_write_layers_LDADD = $(below_config)
tests/ort/write_onnx.log: tests/unit/write_layers$(EXEEXT)
