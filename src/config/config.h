/* The configuration: defaults, overridden by a YAML file, overridden by the command line. One table
 * (config/option_table.c) has every option: key, type, range, default, text; the YAML reader, config_set and
 * config_print use it. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "ops/op_own.h"
#include "problem/dim.h"
#include "problem/dtype.h"

#define CONFIG_LIST_MAX 32

struct config_runner {
	const char *name;    /* "cpu", "cuda", "gpu7" */
	int argc;
	const char **argv;   /* NULL-terminated */
	int count;           /* number of its processes that may run at once; 0 counts as 1 */
	const char **env;    /* "NAME=VALUE", NULL-terminated; NULL: none */
};

/* A named scenario. What it does not set stays as it is. */
struct config_scenario {
	const char *name;          /* letters, digits, '_', '-' and '.', at most CONFIG_SCENARIO_NAME_MAX */
	const char *what_if;       /* "fusion,matrix=off"; NULL: none. Not checked here */
	int64_t batch;             /* 0: not set */
	bool has_dtype;
	enum dtype dtype;
	const char *device;        /* NULL: not set */
	int dim_count;
	struct dim_binding *dims;
	bool saved;                /* in the file of config_save_scenario, not in the user's own */
	int line;                  /* in the user's own; else 0 */
};
#define CONFIG_SCENARIO_NAME_MAX 32
#define CONFIG_SCENARIOS_MAX 256
#define CONFIG_WORDS_MAX 4096 /* what-ifs in a file */
/* An entry of `keys`: the name of a request of the explorer, and its keys, separated by blanks. An entry of
 * `theme`: the name of a role, or "base", and what it looks like. The explorer checks both. */
struct config_word {
	const char *name, *value;
	int line;            /* in the file; 0: not from it */
};

struct config {
	struct arena arena;
	const char *path;          /* the file that was read, or NULL */
	int lines[CONFIG_LIST_MAX]; /* config_place: by rows of the option table; 0: not of the file */
	const char *db;            /* database path; NULL = default */
	const char *device;        /* -d; NULL = the first runner configured */
	int batch_count;
	int64_t batch[CONFIG_LIST_MAX];     /* empty: the model's own / 1 */
	int dtype_count;
	enum dtype dtype[CONFIG_LIST_MAX];  /* empty: f32 */
	const char *what_if;       /* "fusion,matrix=off"; NULL = defaults */
	int what_if_word_count;
	struct config_word *what_if_words; /* of the file: a scenario (NULL: `what_if`), one what-if */
	/* "best" or "preferred": initial value of the what-if algorithm; "all": best, and runners try all
	 * algorithms (config_lists_all) */
	const char *algorithms;
	const char *functions;     /* "operators" or "expand": calls of functions named like an operator */
	const char *columns;       /* further columns of the explorer's list: "bound,peak"; NULL: by room */
	int columns_count;         /* values that it was given in */
	int64_t budget_ms;         /* measuring time per problem and algorithm, default 200 */
	int64_t problem_limit_ms;  /* time limit per problem, default 30000 */
	int key_wait_ms;           /* for the next key of a count or pair, default 300 */
	int threads;               /* 0: all cores of the affinity mask */
	bool color, ascii;
	bool quick;                /* measuring begins with a quick pass */
	const char *measure;       /* "ask", "always" or "never": when a model opens with nothing measured */
	int runner_count;
	struct config_runner *runners;
	int agent_count;
	struct config_runner *agents; /* they run whole models, as runners run problems */
	const char *python;        /* interpreter of the built-in agents */
	int dim_count;
	struct dim_binding *dims;  /* `dims:` of the file */
	int scenario_count;
	struct config_scenario *scenarios; /* `scenarios:` of the file, then those that were saved */
	int keys_count;
	struct config_word *keys;  /* `keys:` of the file */
	int theme_count;
	struct config_word *theme;
	bool mouse;
	struct op_own_table operators; /* `operators:` of the file */
};

/* Sets the defaults, then reads the file: path if not NULL (it must exist), else $BENANZA_CONFIG, else
 * $XDG_CONFIG_HOME/benanza/config.yaml if it exists. Unknown keys, wrong types and numbers out of range are
 * errors (-1) that name file, line, key and what is allowed; c is then empty. $BENANZA_DB overrides the
 * file's `db`. A runner "cpu" always exists: benanza-runner-cpu unless the file defines another. Saved
 * scenarios are read too; those with the name of one in the file are ignored. Release with config_free. */
int config_load(struct config *c, const char *path, struct error *err);
/* Sets one option by its key from text, as the command line does ("batch" "1,8"). A list is replaced; "dims"
 * ("NAME=VALUE"), "runners" and "agents" ("NAME=COMMAND WORD..."), "scenarios" ("NAME=WHAT-IFS") add or
 * replace an entry. On error (-1) c is unchanged. */
int config_set(struct config *c, const char *key, const char *value, struct error *err);
/* The same; the error does not name the key. */
int config_take(struct config *c, const char *key, const char *value, struct error *err);
/* Takes the device of a scenario, which the file sets in that line; 0: another file does. */
void config_take_device(struct config *c, const char *device, int line);
/* Where the file sets an option ("x.yaml:3: device"), if the command line has not replaced it; else NULL. */
const char *config_place(const struct config *c, const char *key, struct arena *a);
/* Adds the built-in agents ("ort", "openvino", "trtexec", "torch") whose programs exist and whose names no
 * configured agent has. Only commands that use agents call it, because it looks for files. */
void config_add_agents(struct config *c);
/* Takes `python` and `agents` of the file as it is now, with the built-in agents; what was there before stays
 * valid. -1: the file cannot be read, and c is unchanged. */
int config_agents_again(struct config *c, struct error *err);
/* True if runners shall try all algorithms, not only those that heuristics return. */
bool config_lists_all(const struct config *c);
/* Returns the agent with this name or alias ("onnxruntime" is "ort"), or NULL. */
const struct config_runner *config_agent(const struct config *c, struct text name);
/* The scenario of that name, or NULL; the nearest name, or NULL if none is near. */
const struct config_scenario *config_scenario(const struct config *c, struct text name);
const char *config_scenario_nearest(const struct config *c, struct text name);
/* Adds a copy of a scenario, or replaces one that was saved, and writes all saved ones to
 * $XDG_DATA_HOME/benanza/scenarios.yaml. -1 with err: the name is not valid or belongs to the user's file, or
 * the file cannot be written; c is then unchanged. */
int config_save_scenario(struct config *c, const struct config_scenario *one, struct error *err);
/* Removes a scenario that was saved, or gives it another name, also in that file. -1 with err: no scenario
 * has that name, it is of the user's file, or (rename) the name is taken or not valid. */
int config_delete_scenario(struct config *c, const char *name, struct error *err);
int config_rename_scenario(struct config *c, const char *name, const char *to, struct error *err);
/* Appends the effective configuration as commented YAML. */
void config_print(const struct config *c, struct str *out);
void config_free(struct config *c);

/* The path of a file next to NAME.onnx whose name is NAME and `end` (".yaml"), whether it is there or not. */
char *config_beside_path(struct arena *a, const char *model_path, const char *end);
/* Reads the sidecar of a model (NAME.yaml next to NAME.onnx), which has `dims:` only. Bindings live in the
 * arena. No file: 0 bindings, no error. */
int config_sidecar(
	const char *model_path, struct arena *a, struct dim_binding **dims, int *count, struct error *err);

/* Reads the operators of a model (NAME.ops.yaml next to NAME.onnx; it has `operators:` only) into t, in the
 * arena; t is empty before. No file: t stays as it is, no error. */
int config_operators(const char *model_path, struct arena *a, struct op_own_table *t, struct error *err);

/* Parses "NAME=VALUE" of --dim; the name lives in the arena. */
int config_parse_dim(const char *text, struct arena *a, struct dim_binding *out, struct error *err);
/* Default database path: $XDG_DATA_HOME/benanza/benanza.db (store_open creates the directories). */
const char *config_default_db(struct arena *a);
/* The file of saved scenarios; NULL: there is no home directory. */
const char *config_saved_path(struct arena *a);
/* Path of a file in $XDG_STATE_HOME/benanza, whose directories are made; NULL: there is no home. */
const char *config_state_path(struct arena *a, const char *file);

#endif
