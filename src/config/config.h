/* The configuration: defaults < file (YAML) < command line. One option table (config/option_table.c) knows every
 * option: key, type, range, default, text; the YAML reader, config_set and config_print are made from
 * it. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "problem/dim.h"
#include "problem/dtype.h"

#define CONFIG_LIST_MAX 32

struct config_runner {
	const char *name;    /* "cpu", "cuda", "gpu7" */
	int argc;
	const char **argv;   /* NULL-terminated */
	int count;           /* of its processes that may run at once; 0 is 1 */
	const char **env;    /* "NAME=VALUE", NULL-terminated; NULL: none */
};

struct config {
	struct arena arena;
	const char *path;          /* the file that was read, or NULL */
	const char *db;            /* database path; NULL = default */
	const char *device;        /* -d; NULL = the first runner configured */
	int batch_count;
	int64_t batch[CONFIG_LIST_MAX];     /* empty: the model's own / 1 */
	int dtype_count;
	enum dtype dtype[CONFIG_LIST_MAX];  /* empty: f32 */
	const char *what_if;       /* "fusion,matrix=off"; NULL = defaults */
	const char *algorithms;    /* "best" or "preferred": what the bound starts with */
	int64_t budget_ms;         /* per problem and algorithm, default 200 */
	int64_t problem_limit_ms;  /* hard limit per problem, default 30000 */
	int threads;               /* 0: all cores of the affinity mask */
	bool color, ascii;
	int runner_count;
	struct config_runner *runners;
	int dim_count;
	struct dim_binding *dims;  /* `dims:` of the file */
};

/* Defaults, then the file: path when not NULL (missing = error), else $BENANZA_CONFIG, else
 * $XDG_CONFIG_HOME/benanza/config.yaml where it exists. Unknown keys, wrong types and absurd numbers are errors
 * that name file, line, key and what is allowed; c is then empty. $BENANZA_DB goes before the file's `db`. The runner
 * "cpu" is there in any case: our own where the file says nothing else. */
int config_load(struct config *c, const char *path, struct error *err);
/* Sets one option by its table key from text, as the command line does ("batch" "1,8"). A list is set anew; "dims"
 * ("NAME=VALUE") and "runners" ("NAME=COMMAND WORD...") add an entry or replace it. On error c is as it was. */
int config_set(struct config *c, const char *key, const char *value, struct error *err);
/* The effective configuration as YAML, commented, to a buffer. */
void config_print(const struct config *c, struct str *out);
void config_free(struct config *c);

/* The sidecar of a model (NAME.yaml beside NAME.onnx): `dims:` only. Absent file: 0 bindings, no error. */
int config_sidecar(const char *model_path, struct arena *a, struct dim_binding **dims, int *count, struct error *err);

/* Parses "NAME=VALUE" of --dim. */
int config_parse_dim(const char *text, struct arena *a, struct dim_binding *out, struct error *err);
/* Default database path: $XDG_DATA_HOME/benanza/benanza.db (directories made by store_open). */
const char *config_default_db(struct arena *a);

#endif
