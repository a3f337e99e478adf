/* The options: one row each. The YAML reader, config_set, config_print and the texts of help are made from the rows. */
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
	OPTION_DTYPES,  /* list of enum dtype and its count */
	OPTION_DIMS,    /* map of a name to a number */
	OPTION_RUNNERS, /* map of a name to a command */
	OPTION_TYPE_COUNT
};

struct option {
	const char *key;
	enum option_type type;
	size_t offset, count_offset; /* of the field in struct config, and of its count for lists */
	int64_t least, most;         /* numbers: what is allowed */
	const char *choices;         /* OPTION_CHOICE: "best|preferred"; else NULL */
	const char *otherwise;       /* the default as a person reads it */
	const char *spelling;        /* on the command line: "-b, --batch LIST"; NULL when it has none */
	const char *text;            /* one line: what it is for */
};

const struct option *option_table(int *count);
/* The row of a key, or NULL. */
const struct option *option_find(struct text key);
/* The key that looks most like an unknown one, or NULL when none comes near. */
const char *option_nearest(struct text key);

/* Is the type a list or map, so that values add up? */
bool option_is_list(const struct option *o);
/* Forgets the values of a list or map; sets nothing else. */
void option_clear(struct config *c, const struct option *o);
/* One value from text: a scalar is set, a list grows. Not for runners and dims. err says what is wrong, without key. */
int option_add(struct config *c, const struct option *o, struct text value, struct error *err);
/* One entry of `dims` or `runners`; replaces one of that name when `replace`, else that is an error. */
int option_add_dim(struct config *c, struct text name, struct text value, bool replace, struct error *err);
int option_add_runner(
	struct config *c, struct text name, const struct text *words, int count, bool replace, struct error *err);
/* How many of its processes may run at once, and one more variable for them, of the runner that was added last. */
#define OPTION_PROCESSES_MAX 256
#define OPTION_VARIABLES_MAX 32
int option_runner_count(struct config *c, struct text value, struct error *err);
int option_runner_variable(struct config *c, struct text name, struct text value, struct error *err);
/* A command in one text, cut at blanks, to words; -1 with err when there is none or too many. */
#define OPTION_WORDS_MAX 64
int option_words(struct text command, struct text *words, struct error *err);
/* "key: value" lines as YAML, or a commented line where nothing is set. */
void option_print(const struct config *c, const struct option *o, struct str *out);

#endif
