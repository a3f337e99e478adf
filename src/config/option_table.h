/* The options of the configuration, one row each. The YAML reader, config_set and config_print use them. */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include "config/config.h"

enum option_type {
	OPTION_TEXT,    /* const char * */
	OPTION_CHOICE,  /* const char *, one of the words in choices */
	OPTION_NUMBER,  /* int64_t */
	OPTION_INT,     /* int */
	OPTION_FLAG,    /* bool */
	OPTION_NUMBERS, /* list of int64_t and its count */
	OPTION_WORDS,   /* const char *, joined by commas, and the number of values given */
	OPTION_DTYPES,  /* list of enum dtype and its count */
	OPTION_DIMS,    /* map of a name to a number */
	OPTION_KEYS,    /* map of a name to a text */
	OPTION_THEME,   /* the same, or a text: "light", "light,warning=208 bold" */
	OPTION_RUNNERS, /* map of a name to a command */
	OPTION_SCENARIOS, /* map of a name to what-ifs, batch, data type, device, dimensions */
	OPTION_OPERATORS, /* list of operators that the user describes */
	OPTION_TYPE_COUNT
};

struct option {
	const char *key;
	enum option_type type;
	size_t offset, count_offset; /* of the field in struct config, and (lists) of its count */
	int64_t least, most;         /* numbers: the allowed range */
	const char *choices;         /* OPTION_CHOICE: "best|preferred"; else NULL */
	const char *otherwise;       /* the default, for the reader */
	const char *spelling;        /* on the command line: "-b, --batch LIST"; NULL: none */
	const char *text;            /* description, one line */
};

/* All options, in the order of the manual page. */
const struct option *option_table(int *count);
/* The row of a key, or NULL; its index. */
const struct option *option_find(struct text key);
int option_row(const struct option *o);
/* The key nearest to an unknown one, or NULL if none is near. */
const char *option_nearest(struct text key);

/* True for lists and maps, whose values accumulate. */
bool option_is_list(const struct option *o);
/* Removes the values of a list or map; no effect on others. */
void option_clear(struct config *c, const struct option *o);
/* Parses one value: sets a scalar, appends to a list. Not for runners and dims. Returns 0, or -1 with err,
 * which does not contain the key. */
int option_add(struct config *c, const struct option *o, struct text value, struct error *err);
/* Adds one entry of `dims`, of `runners` or `agents`, of `keys` or `theme`. An entry of that name is replaced
 * if `replace`, else it is an error. */
int option_add_dim(struct config *c, struct text name, struct text value, bool replace, struct error *err);
int option_add_runner(struct config *c, const struct option *o, struct text name, const struct text *words,
	int count, bool replace, struct error *err);
int option_add_key(struct config *c, const struct option *o, struct text name, struct text value, int line,
	struct error *err);
/* "light,warning=208 bold": entries of a theme; a word alone is its "base". */
int option_add_theme(
	struct config *c, const struct option *o, struct text value, int line, struct error *err);
/* For the runner or agent that was added last: the number of processes that may run at once; one more
 * environment variable. */
#define OPTION_PROCESSES_MAX 256
#define OPTION_VARIABLES_MAX 32
int option_runner_count(struct config *c, const struct option *o, struct text value, struct error *err);
int option_runner_variable(struct config *c, const struct option *o, struct text name, struct text value,
	struct error *err);
/* Adds a copy of a scenario. */
int option_add_scenario(struct config *c, const struct config_scenario *one, bool replace, struct error *err);
/* Splits a command at blanks into words (borrowed); returns their number, -1 with err if it has no word or
 * too many. */
#define OPTION_WORDS_MAX 64
int option_words(struct text command, struct text *words, struct error *err);
/* Appends "key: value" lines as YAML; a comment if nothing is set. */
void option_print(const struct config *c, const struct option *o, struct str *out);

#endif
