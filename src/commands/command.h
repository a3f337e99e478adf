/* The sub-commands: one row each in benanza.c, one file each here. A command prints on stdout, its errors are returned;
 * main prints those and exits. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "session/session.h"

#include <stdio.h>

enum exit_status { EXIT_DONE = 0, EXIT_GAPS = 1, EXIT_BAD = 2, EXIT_NO_DEVICE = 3 };

/* The command line, parsed. */
struct options {
	struct arena arena;
	struct config config;
	int argc;                     /* positional arguments; once it is known, behind the command's name */
	const char **argv;
	bool json, csv, quiet, verbose;
	bool help, version;           /* asked for: nothing else was read */
	bool may_command;             /* argv[0] may name a command: it did not stand behind "--" */
	bool color, ascii;            /* color: wanted and allowed (NO_COLOR, --no-color) */
	int dim_count, shape_count, value_count;
	struct dim_binding *dims;
	struct plan_input_shape *shapes;
	struct plan_input_value *values;
	const volatile sig_atomic_t *stop; /* a command that ends well when interrupted sets it */
	FILE *log;                    /* -v */
	bool constants;               /* layers: those that only make constants, too */
	bool batch_option;            /* -b was given */
	bool again;                   /* bench: known results are no reason not to measure */
	bool shaky;                   /* bench: nor are those that were disturbed */
	bool emit_jobs;               /* bench: jobs for a runner elsewhere, in these states */
	const char *caches, *launches;
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
/* The options section of --help, from the one table. */
void options_help(FILE *out);
/* The same for the manual page, as man(7). */
void options_man(struct str *out);

/* How many letters must be changed, added or left out to make one word the other. */
int word_distance(const char *a, const char *b);

/* The session of the model at o->argv[index]. */
struct session *options_session(struct options *o, int index, enum session_db db, struct error *err);
/* The exit status of what session_connect returned. */
int options_connected(int connected);
/* The batches and data types asked for; at least one each (batch 0 = the model's own). */
int options_batches(const struct options *o, int64_t batches[CONFIG_LIST_MAX]);
int options_dtypes(const struct options *o, enum dtype dtypes[CONFIG_LIST_MAX]);
/* session_select; what is wrong begins with the model's name. */
int options_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err);
/* The database that is asked for. */
const char *options_db(struct options *o);
/* From `least` to `most` positional arguments, or a usage line in err. */
int options_expect(const struct options *o, int least, int most, const char *usage, struct error *err);

#endif
