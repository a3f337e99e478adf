/* The commands: one file each here, one row each in COMMAND_LIST. A command prints to stdout and returns
 * errors, which main prints. It parses no arguments itself: its row has its options and the number of its
 * arguments; help and manual page are generated from these. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "base/output.h"
#include "session/session.h"

#include <stddef.h>
#include <stdio.h>

enum exit_status { EXIT_DONE = 0, EXIT_GAPS = 1, EXIT_BAD = 2, EXIT_NO_DEVICE = 3 };

/* What an option's value sets. */
enum option_use {
	USE_CONFIG,   /* passed to config_set with `key` */
	USE_FILE,     /* the configuration file */
	USE_DIM,
	USE_ASSUME,
	USE_INPUT,
	USE_VALUE,
	USE_REQUESTS,
	USE_AGENT_OPTION,
	USE_FLAG,     /* a bool of struct options */
	USE_OWN_FLAG, /* a bool of the command's own options */
	USE_OWN_TEXT, /* a string of the command's own options */
	USE_OWN_LIST  /* the same, which may be given several times: a struct option_list */
};
struct option_list {
	int count;
	const char *texts[CONFIG_LIST_MAX];
};

/* An option. Commands that have options of the same name agree in letter and in taking a value. */
struct option_row {
	const char *name;  /* NULL ends an array of rows */
	char letter;       /* 0 = none */
	const char *value; /* its placeholder; NULL = takes none; "[=LIST]": it may be left out, and is then
			      "" (USE_OWN_TEXT without a letter) */
	enum option_use use;
	const char *key;   /* USE_CONFIG: key of the configuration */
	size_t offset;     /* of the field: USE_FLAG in struct options, USE_OWN_* in o->own */
	const char *text;
};

/* The columns use, key, offset of a row. */
#define CONFIG_KEY(key) USE_CONFIG, key, 0
#define SHARED_FLAG(field) USE_FLAG, NULL, offsetof(struct options, field)
#define OWN_FLAG(type, field) USE_OWN_FLAG, NULL, offsetof(struct type, field)
#define OWN_TEXT(type, field) USE_OWN_TEXT, NULL, offsetof(struct type, field)
#define OWN_LIST(type, field) USE_OWN_LIST, NULL, offsetof(struct type, field)

/* Rows that commands share. */
struct option_group {
	const char *title; /* in lower case; consecutive groups of one title are printed as one */
	bool everywhere; /* every command accepts them, so that an alias can have them */
	const struct option_row *rows;
};

/* option_groups.c */
extern const struct option_group options_common, options_model, options_device, options_threads,
	options_scenario, options_budget, options_agents, options_json, options_csv, options_force;
/* All of these, NULL last. */
extern const struct option_group *const options_shared[];

#define COMMAND_GROUPS_MAX 9
#define COMMAND_EXAMPLES_MAX 3
#define COMMAND_ARGUMENTS_MAX 10000

struct options;

struct command {
	const char *name;      /* "bench", "db export" */
	const char *arguments; /* for the usage line: "MODEL..." */
	int least, most;       /* number of arguments */
	const char *text;      /* one line in the list of commands */
	const char *about;     /* one or two sentences: what it does */
	const char *examples[COMMAND_EXAMPLES_MAX + 1]; /* shell lines; model.onnx is in the directory */
	const struct option_row *own; /* its own options; NULL: none */
	size_t own_size;       /* of the struct that they set, o->own */
	/* The shared options that have an effect on it; options_common goes without saying. */
	const struct option_group *groups[COMMAND_GROUPS_MAX + 1];
	/* Returns an exit_status; EXIT_BAD and EXIT_NO_DEVICE with a line in err. NULL: only its subcommands
	 * can be run. */
	int (*run)(struct options *o, struct error *err);
};

/* All commands in the order of the help; command_NAME is defined in a cmd_*.c. The first runs if no command
 * is named. */
#define COMMAND_LIST(ROW)                                                                                    \
	ROW(explorer)                                                                                        \
	ROW(layers)                                                                                          \
	ROW(bench)                                                                                           \
	ROW(bound)                                                                                           \
	ROW(report)                                                                                          \
	ROW(advise)                                                                                          \
	ROW(compare)                                                                                         \
	ROW(models)                                                                                          \
	ROW(sweep)                                                                                           \
	ROW(diff)                                                                                            \
	ROW(scenarios)                                                                                       \
	ROW(repro)                                                                                           \
	ROW(ops)                                                                                             \
	ROW(devices)                                                                                         \
	ROW(doctor)                                                                                          \
	ROW(db)                                                                                              \
	ROW(db_info)                                                                                         \
	ROW(db_check)                                                                                        \
	ROW(db_repair)                                                                                       \
	ROW(db_import)                                                                                       \
	ROW(db_merge)                                                                                        \
	ROW(db_export)                                                                                       \
	ROW(help)

#define COMMAND_DECLARE(name) extern const struct command command_##name;
COMMAND_LIST(COMMAND_DECLARE)

/* The command line, parsed. */
struct options {
	struct arena arena;
	struct config config;
	int line_count;               /* the command line as given, with the program's name */
	char **line;
	const struct command *command; /* NULL: none has this name */
	int argc;                     /* arguments without the command's name */
	const char **argv;
	void *own;                    /* the command's own options, command->own_size bytes; 0 if not given */
	bool json, csv, quiet, verbose, force;
	bool help, version;           /* requested; nothing else was read */
	bool color, ascii;            /* color: enabled, unless NO_COLOR or --no-color */
	int dim_count, shape_count, value_count;
	struct dim_binding *dims;
	struct plan_input_shape *shapes;
	struct plan_input_value *values;
	int assume_count;
	struct assume_item *assume;
	int requests;                 /* --requests; 0: not given */
	json_t *agent_options;        /* --agent-option: an object of texts; NULL: not given */
	const volatile sig_atomic_t *stop; /* set by commands that end cleanly when interrupted; else NULL */
	FILE *log;                    /* -v */
	struct option_list devices;   /* each -d that was given; the last one counts, but in diff */
	bool batch_option;            /* -b was given */
	unsigned given;               /* SCENARIO_BATCH ...: what the command line sets of a scenario */
	bool scenario_wins;           /* a named scenario replaces what the command line sets; set before
					 options_parse */
	bool what_if_option;          /* -w was given */
	bool overrides;               /* a later --dim, --input, --value or --assume replaces an earlier
					 one of the same name, else they must agree; set before
					 options_parse */
};

/* The commands of COMMAND_LIST. */
const struct command *const *command_table(int *count);
/* Hands the list of all commands to what parses and describes them; main does it first. */
void commands_register(void);
void command_table_set(const struct command *const *all, int count);
bool command_is_explorer(const struct command *c);
/* The command that the first words name, with their number in *used. If they name none: the explorer, or NULL
 * if the first word can only be a misspelt command. */
const struct command *command_of(const char *const *words, int count, int *used);
/* The command of this name ("db export", "explorer"), or NULL. */
const struct command *command_named(const char *const *words, int count);
/* As the subject of a sentence: "bench", "the explorer". */
const char *command_subject(const struct command *c);
bool command_has_group(const struct command *c, const struct option_group *g);
/* Says in err that the words name no command, with the nearest one. Returns -1. */
int command_unknown(const char *const *words, int count, struct error *err);

/* --help, at most 80 columns wide: of all commands, or of one. */
void help_print(const struct command *c, FILE *out); /* NULL: all */
/* The options of all commands for the manual page, as man(7). */
void help_man(struct str *out);

/* Finds the command in argv (argv[0] is skipped), parses its options, reads the configuration. -1: bad
 * usage. */
int options_parse(struct options *o, int argc, char **argv, struct error *err);
/* Parses the command line of `o` once more, with words after its options, which `o` keeps. */
int options_parse_with(
	struct options *other, struct options *o, char *const *words, int count, struct error *err);
void options_free(struct options *o);
/* Prepends the option of this long name to an error: "-d (--device): ...". Returns -1. */
int options_blame(const char *name, struct error *err);
/* The options whose values have a syntax of their own: --dim, --input, --value, those of agents. */
int options_add_dim(struct options *o, const char *text, struct error *err);
int options_add_assume(struct options *o, const char *text, struct error *err);
int options_add_input(struct options *o, const char *text, struct error *err);
int options_add_value(struct options *o, const char *text, struct error *err);
int options_set_requests(struct options *o, const char *text, struct error *err);
int options_add_agent_option(struct options *o, const char *text, struct error *err);
/* -1 if an option of agents is given, but not the one that runs them ("--run or --try"). */
int options_check_agents(const struct options *o, bool runs, const char *needs, struct error *err);
/* "Unknown option" for what getopt_long returned (':' or '?') with the options of o->command (NULL: of all
 * commands): names the commands that have it, or the nearest option. Returns -1. */
int options_unknown(const struct options *o, int code, char **argv, struct error *err);

/* The options of a command (NULL: of all commands), each name once, those accepted everywhere included.
 * Returns their number. */
#define OPTION_ROWS_MAX 128
int option_rows_of(const struct command *c, const struct option_row *rows[OPTION_ROWS_MAX]);

/* Opens a session with the model o->argv[index]; the caller closes it. NULL with err on failure. */
struct session *options_session(struct options *o, int index, enum session_db db, struct error *err);
/* The rules for a file that the command writes: an existing one is refused without --force, one that it reads
 * always. In the arena. */
struct output_rules options_output(const struct options *o, const struct session *s, struct arena *a);
/* The exit status of what session_connect returned. */
int options_connected(int connected);
/* The requested batches and data types; at least one each (batch 0: the model's own). Return the count. */
int options_batches(const struct options *o, int64_t batches[CONFIG_LIST_MAX]);
int options_dtypes(const struct options *o, enum dtype dtypes[CONFIG_LIST_MAX]);
/* Checks what only the explorer knows of a configuration: names of keys, themes, roles and columns; its keys
 * are in force then. -1: err names file and line. Every command does, so that a mistake is found at once. */
int explorer_words_check(const struct config *c, struct error *err);
/* For a command of one plan: of a list in the configuration the first value is taken, with a note. Returns -1
 * with err if -b or -t give several. */
int options_one_plan(struct options *o, int64_t *batch, enum dtype *dtype, struct error *err);
/* session_select; errors begin with the model's name. */
int options_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* Path of the database. */
const char *options_db(struct options *o);

#endif
