/* The subcommands: one row each in benanza.c, one file each here. A command prints to stdout and returns
 * errors, which main prints. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "session/session.h"

#include <stdio.h>

enum exit_status { EXIT_DONE = 0, EXIT_GAPS = 1, EXIT_BAD = 2, EXIT_NO_DEVICE = 3 };

/* The command line, parsed. */
struct options {
	struct arena arena;
	struct config config;
	int argc;                     /* positional arguments; after dispatch, without the command's name */
	const char **argv;
	bool json, csv, quiet, verbose;
	bool help, version;           /* requested; nothing else was read */
	bool may_command;             /* argv[0] may name a command: it is not after "--" */
	bool color, ascii;            /* color: enabled, unless NO_COLOR or --no-color */
	int dim_count, shape_count, value_count;
	struct dim_binding *dims;
	struct plan_input_shape *shapes;
	struct plan_input_value *values;
	const volatile sig_atomic_t *stop; /* set by commands that end cleanly when interrupted; else NULL */
	FILE *log;                    /* -v */
	bool constants;               /* layers: also those that only compute constants */
	bool batch_option;            /* -b was given */
	bool again;                   /* bench: measure everything again */
	bool shaky;                   /* bench: measure noisy results again */
	bool emit_jobs;               /* bench: print jobs for a runner on another machine */
	const char *caches, *launches; /* bench: states to measure; NULL: default */
	const char *frame, *view, *keys; /* --frame 120x40 --view NAME --keys 'j j Enter' */
	bool svg;                     /* with --frame */
};

/* Each returns an exit_status; EXIT_BAD and EXIT_NO_DEVICE with a line in err. */
int cmd_layers(struct options *o, struct error *err);
int cmd_bench(struct options *o, struct error *err);
int cmd_bound(struct options *o, struct error *err);
int cmd_ops(struct options *o, struct error *err);
int cmd_devices(struct options *o, struct error *err);
int cmd_doctor(struct options *o, struct error *err);
int cmd_db(struct options *o, struct error *err);
int cmd_explore(struct options *o, struct error *err);

/* Parses argv (argv[0] is skipped) into o; reads the configuration. -1: bad usage. */
int options_parse(struct options *o, int argc, char **argv, struct error *err);
void options_free(struct options *o);
/* Prints the options section of --help. */
void options_help(FILE *out);
/* The same for the man page, as man(7). */
void options_man(struct str *out);

/* Levenshtein distance of two words; 32 if b has over 31 letters. */
int word_distance(const char *a, const char *b);

/* Opens a session with the model o->argv[index]; the caller closes it. NULL with err on failure. */
struct session *options_session(struct options *o, int index, enum session_db db, struct error *err);
/* The exit status of what session_connect returned. */
int options_connected(int connected);
/* The requested batches and data types; at least one each (batch 0: the model's own). Return the count. */
int options_batches(const struct options *o, int64_t batches[CONFIG_LIST_MAX]);
int options_dtypes(const struct options *o, enum dtype dtypes[CONFIG_LIST_MAX]);
/* session_select; errors begin with the model's name. */
int options_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* Path of the database. */
const char *options_db(struct options *o);
/* 0 if there are `least` to `most` positional arguments; else -1 with a usage line in err. */
int options_expect(const struct options *o, int least, int most, const char *usage, struct error *err);

#endif
