#ifndef CONFIG_CONFIG_PRIVATE_H
#define CONFIG_CONFIG_PRIVATE_H

#include "config/option_table.h"
#include "yaml/yaml_read.h"

#define CONFIG_FILE_MAX (1 << 20) /* bytes of a YAML file */

/* Reads a YAML file into c. only: the single key that it may have; NULL: all keys. Errors begin with
 * "path:line: ". */
int config_read_yaml(struct config *c, const char *path, const char *only, struct error *err);
/* Path of benanza's file below an XDG directory, or NULL; relative XDG paths are ignored, as the
 * specification requires. */
const char *config_xdg(struct arena *a, const char *variable, const char *below_home, const char *file);
/* Sets path (in the arena) to the file beside a model, as config_beside_path; NULL: no such file. -1: it
 * leads out of the model's folder. */
int config_beside(
	const char *model_path, const char *end, struct arena *a, const char **path, struct error *err);
/* config_scenarios.c: adds the scenarios that were saved. */
int config_read_saved(struct config *c, struct error *err);

/* A file that is being read, item by item; config_yaml.c. */
struct reader {
	struct config *config;
	const char *path, *only;
	struct config *file; /* of `config`, or around the scenario that is read into it */
	const char *scenario; /* its name; NULL: none is read */
	struct yaml_reader *yaml;
	struct yaml_item item; /* the current one */
	uint64_t seen; /* options that were read, one bit each */
	struct error *err;
};

/* Prepends "path:line: " to the error. All return -1 with an error. */
int reader_at(struct reader *r, int line);
int reader_wants(struct reader *r, const char *key, const char *what); /* "key: expected what" */
int reader_failed(struct reader *r, const char *key, int line);        /* puts the key before the error */
int reader_next(struct reader *r);
/* Reads the name of the next map entry into the arena. 1: an entry, whose value is the current item; 0: end
 * of the map. */
int reader_name(struct reader *r, const struct option *o, struct text *name, int *line);
/* config_operators.c: the value of `operators`. */
int reader_operators(struct reader *r, const struct option *o);

#endif
