/* Reads the command line: which command, its options, the configuration; and what commands do with them. */
#include "config.h"

#include "commands/command.h"
#include "commands/interrupt.h"

#include "base/log.h"
#include "session/scenarios.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPTION_BASE 256 /* getopt codes of rows without a letter */

/* Appends the rows whose names are new. */
static int rows_add(const struct option_row **rows, int count, const struct option_row *more)
{
	for (; more && more->name; more++) {
		bool known = false;
		for (int i = 0; i < count; i++) {
			bool is_same = strcmp(rows[i]->name, more->name) == 0;
			assert(is_same ? !rows[i]->value == !more->value && rows[i]->letter == more->letter :
				!more->letter || rows[i]->letter != more->letter);
			known |= is_same;
		}
		if (known)
			continue;
		assert(count < OPTION_ROWS_MAX);
		rows[count++] = more;
	}
	return count;
}

int option_rows_of(const struct command *c, const struct option_row *rows[OPTION_ROWS_MAX])
{
	int commands, count = 0;
	const struct command *const *all = command_table(&commands);
	for (int i = 0; i < commands; i++)
		if (!c || c == all[i])
			count = rows_add(rows, count, all[i]->own);
	for (int i = 0; options_shared[i]; i++)
		if (!c || command_has_group(c, options_shared[i]))
			count = rows_add(rows, count, options_shared[i]->rows);
	return count;
}

/* Prepends the option to an error, as users know it: "-b (--batch)". Returns -1. */
static int option_blame(const struct option_row *r, struct error *err)
{
	return r->letter ? error_context(err, "-%c (--%s)", r->letter, r->name) :
		error_context(err, "--%s", r->name);
}

int options_blame(const char *name, struct error *err)
{
	const struct option_row *rows[OPTION_ROWS_MAX];
	int count = option_rows_of(NULL, rows), at = 0;
	while (strcmp(rows[at]->name, name) != 0 && at < count - 1)
		at++;
	return option_blame(rows[at], err);
}

static int list_add(struct option_list *l, const struct option_row *r, const char *value, struct error *err)
{
	if (l->count == CONFIG_LIST_MAX) {
		error_set(err, "is given more than %d times", CONFIG_LIST_MAX);
		return option_blame(r, err);
	}
	l->texts[l->count++] = value;
	return 0;
}

static int option_apply(struct options *o, const struct option_row *r, const char *value, struct error *err)
{
	switch (r->use) {
	case USE_CONFIG:
		o->batch_option |= r->letter == 'b';
		o->given |= strcmp(r->key, "batch") == 0 ? SCENARIO_BATCH : strcmp(r->key, "dtype") == 0 ?
			SCENARIO_DTYPE : strcmp(r->key, "device") == 0 ? SCENARIO_DEVICE : 0;
		o->what_if_option |= r->letter == 'w';
		if (r->letter == 'd' && list_add(&o->devices, r, value, err))
			return -1;
		return config_take(&o->config, r->key, value ? value : "no", err) ? option_blame(r, err) : 0;
	case USE_DIM:
		return options_add_dim(o, value, err);
	case USE_ASSUME:
		return options_add_assume(o, value, err);
	case USE_INPUT:
		return options_add_input(o, value, err);
	case USE_VALUE:
		return options_add_value(o, value, err);
	case USE_REQUESTS:
		return options_set_requests(o, value, err);
	case USE_AGENT_OPTION:
		return options_add_agent_option(o, value, err);
	case USE_FLAG:
		*(bool *)((char *)o + r->offset) = true;
		return 0;
	case USE_OWN_FLAG:
		*(bool *)((char *)o->own + r->offset) = true;
		return 0;
	case USE_OWN_TEXT:
		*(const char **)((char *)o->own + r->offset) = value ? value : "";
		return 0;
	case USE_OWN_LIST:
		return list_add((struct option_list *)((char *)o->own + r->offset), r, value, err);
	case USE_FILE:
		return 0; /* read before the other options */
	}
	return 0;
}

static int argument_of(const struct option_row *r)
{
	return !r->value ? no_argument : r->value[0] == '[' ? optional_argument : required_argument;
}

/* getopt's tables of these rows. */
static void getopt_tables(const struct option_row *const *rows, int count, char *letters,
	struct option *longs)
{
	*letters++ = '-'; /* arguments that are not options are returned in order, with code 1 */
	*letters++ = ':'; /* a missing value returns ':', an unknown option '?' */
	for (int i = 0; i < count; i++) {
		const struct option_row *r = rows[i];
		longs[i] = (struct option){ r->name, argument_of(r), NULL,
			r->letter ? r->letter : OPTION_BASE + i };
		if (!r->letter)
			continue;
		*letters++ = r->letter;
		if (r->value)
			*letters++ = ':';
	}
	*letters = '\0';
	longs[count] = (struct option){ 0 };
}

static const struct option_row *option_of(const struct option_row *const *rows, int count, int code)
{
	for (int i = 0; i < count; i++)
		if (code == rows[i]->letter || code == OPTION_BASE + i)
			return rows[i];
	return NULL;
}

/* --config, --help and --version are read before the other options; the last two work even if others are
 * wrong. */
static void option_early(struct options *o, const struct option_row *r, const char *value, const char **file)
{
	if (r->use == USE_FILE)
		*file = value;
	o->help |= r->use == USE_FLAG && r->offset == offsetof(struct options, help);
	o->version |= r->use == USE_FLAG && r->offset == offsetof(struct options, version);
}

/* One pass over argv. */
struct pass {
	const struct command *command; /* NULL: accepts the options of all commands */
	bool apply;                    /* else only checks them, and applies those of option_early */
	bool is_lenient;               /* skips wrong options */
	bool may_name;                 /* result: the first argument can be a command: it is not after "--" */
	const char *file;              /* result: of --config */
};

static int options_pass(struct options *o, int argc, char **argv, struct pass *p, struct error *err)
{
	const struct option_row *rows[OPTION_ROWS_MAX];
	int count = option_rows_of(p->command, rows);
	char letters[3 + 2 * OPTION_ROWS_MAX];
	struct option longs[OPTION_ROWS_MAX + 1];
	getopt_tables(rows, count, letters, longs);
	optind = 0;
	opterr = 0;
	o->argc = 0;
	for (int code; (code = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
		const struct option_row *r = option_of(rows, count, code);
		if (code == 1)
			o->argv[o->argc++] = optarg;
		else if (r && !p->apply)
			option_early(o, r, optarg, &p->file);
		else if (r && option_apply(o, r, optarg, err))
			return -1;
		else if (!r && !p->is_lenient)
			return options_unknown(o, code, argv, err);
	}
	p->may_name = o->argc > 0;
	for (int i = optind; i < argc; i++)
		o->argv[o->argc++] = argv[i];
	return 0;
}

/* -v: appends to $XDG_STATE_HOME/benanza/log, not to the terminal, on which the explorer draws. */
static int log_open(struct options *o, struct error *err)
{
	const char *path = config_state_path(&o->arena, "log");
	if (!path)
		return error_set(err, "cannot write the log: set $XDG_STATE_HOME or $HOME");
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	o->log = fd >= 0 ? fdopen(fd, "a") : NULL;
	if (!o->log)
		return error_set(err, "%s: cannot write the log: %s", path, strerror(errno));
	log_to(o->log);
	return 0;
}

/* Removes the words that name the command from the arguments, and checks the number of the others. */
static int arguments_check(struct options *o, int words, struct error *err)
{
	const struct command *c = o->command;
	bool named = !command_is_explorer(c);
	o->argc -= words;
	o->argv += words;
	if (o->argc && !c->run)
		return command_unknown(o->argv - words, o->argc + words, err);
	bool empty = false;
	for (int i = 0; i < o->argc; i++)
		empty |= !*o->argv[i];
	if (c->run && o->argc >= c->least && o->argc <= c->most)
		return empty ? error_set(err, "an argument is empty: there is no such file") : 0;
	return error_set(err, "usage: benanza%s%s [OPTIONS]%s%s; see benanza %s%s", named ? " " : "",
		named ? c->name : "", *c->arguments ? " " : "", c->arguments,
		named ? c->name : "help explorer", named ? " --help" : "");
}

/* The scenarios that -w or the configuration names. Their dimensions count as --dim; given ones go first. */
static int scenarios_use(struct options *o, struct error *err)
{
	struct dim_binding *dims;
	int count, given = o->dim_count, fixed = o->scenario_wins ? 0 : given;
	if (scenarios_check(&o->config, err))
		return -1;
	if (scenarios_apply(&o->config, o->scenario_wins ? 0 : o->given, &dims, &count, err))
		return o->scenario_wins ? -1 : o->what_if_option ? options_blame("what-if", err) :
			error_context(err, "%s: what_if", o->config.path ? o->config.path : "");
	struct dim_binding *all = ARENA_ARRAY(&o->arena, struct dim_binding, given + count + 1);
	for (int i = 0; i < given; i++)
		all[i] = o->dims[i];
	for (int i = 0; i < count; i++) {
		int at = 0;
		while (at < o->dim_count && !text_equal(all[at].name, dims[i].name))
			at++;
		if (at >= fixed)
			all[at] = dims[i];
		o->dim_count += at == o->dim_count;
	}
	o->dims = all;
	return 0;
}

/* A configuration was not read: names what chose the file if it cannot be opened. Returns -1. */
static int config_blame(const char *file, struct error *err)
{
	const char *of_environment = getenv("BENANZA_CONFIG");
	if (file && access(file, R_OK))
		return options_blame("config", err);
	return !file && of_environment && *of_environment && access(of_environment, R_OK) ?
		error_context(err, "BENANZA_CONFIG") : -1;
}

int options_parse(struct options *o, int argc, char **argv, struct error *err)
{
	struct pass first = { .is_lenient = true }, check = { 0 }, last = { .apply = true };
	int words;
	o->line_count = argc;
	o->line = argv;
	o->argv = ARENA_ARRAY(&o->arena, const char *, argc + 1);
	options_pass(o, argc, argv, &first, err);
	o->command = command_of(o->argv, first.may_name ? o->argc : 0, &words);
	if (o->help || o->version)
		return 0;
	last.command = check.command = o->command;
	if (options_pass(o, argc, argv, &check, err))
		return -1;
	if (!o->command)
		return command_unknown(o->argv, 1, err);
	o->own = arena_alloc(&o->arena, o->command->own_size);
	if (config_load(&o->config, check.file, err))
		return config_blame(check.file, err);
	if (options_pass(o, argc, argv, &last, err) || scenarios_use(o, err))
		return -1;
	const char *no_color = getenv("NO_COLOR");
	o->color = o->config.color && !(no_color && *no_color);
	o->ascii = o->ascii || o->config.ascii;
	if (o->json && o->csv)
		return error_set(err, "--json and --csv exclude each other");
	if (arguments_check(o, words, err))
		return -1;
	return o->verbose ? log_open(o, err) : 0;
}

int options_parse_with(
	struct options *other, struct options *o, char *const *words, int count, struct error *err)
{
	char **argv = ARENA_ARRAY(&o->arena, char *, o->line_count + count + 1);
	int n = 0, at = 0;
	while (at < o->line_count && strcmp(o->line[at], "--") != 0)
		argv[n++] = o->line[at++];
	for (int i = 0; i < count; i++)
		argv[n++] = words[i];
	while (at < o->line_count)
		argv[n++] = o->line[at++];
	return options_parse(other, n, argv, err);
}

void options_free(struct options *o)
{
	log_to(NULL);
	if (o->log)
		fclose(o->log);
	config_free(&o->config);
	json_decref(o->agent_options);
	arena_free(&o->arena);
}

const char *options_db(struct options *o)
{
	return o->config.db ? o->config.db : config_default_db(&o->arena);
}

/* On standard error, to keep standard output clean. */
static void say_wait(const char *line)
{
	fprintf(stderr, "benanza: waiting: %s\n", line);
}

struct session *options_session(struct options *o, int index, enum session_db db, struct error *err)
{
	struct session_options so = {
		.model_path = o->argv[index], .db = db, .stop = o->stop, .say = o->quiet ? NULL : say_wait,
		.dim_count = o->dim_count, .dims = o->dims, .batch_option = o->batch_option,
		.shape_count = o->shape_count, .shapes = o->shapes,
		.value_count = o->value_count, .values = o->values,
		.assume_count = o->assume_count, .assume = o->assume,
		.requests = o->requests, .agent_options = o->agent_options,
	};
	pipe_wait(o->quiet, so.model_path);
	struct session *s = session_open(&o->config, &so, err);
	pipe_waited();
	return s;
}

struct output_rules options_output(const struct options *o, const struct session *s, struct arena *a)
{
	return (struct output_rules){ .refusal = o->force ? NULL : "--force replaces it",
		.reads = session_reads(s, o->argv, o->argc, a) };
}

int options_connected(int connected)
{
	return connected == 0 ? EXIT_DONE : connected == SESSION_UNREADABLE ? EXIT_BAD : EXIT_NO_DEVICE;
}

int options_batches(const struct options *o, int64_t batches[CONFIG_LIST_MAX])
{
	batches[0] = 0;
	for (int i = 0; i < o->config.batch_count; i++)
		batches[i] = o->config.batch[i];
	return o->config.batch_count ? o->config.batch_count : 1;
}

int options_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	return session_select(s, batch, dtype, err) ? error_context(err, "%s", session_model_name(s)) : 0;
}

int options_dtypes(const struct options *o, enum dtype dtypes[CONFIG_LIST_MAX])
{
	dtypes[0] = DTYPE_UNKNOWN;
	for (int i = 0; i < o->config.dtype_count; i++)
		dtypes[i] = o->config.dtype[i];
	return o->config.dtype_count ? o->config.dtype_count : 1;
}

/* Cuts a list of the configuration to its first value. Says so once: diff and scenarios read the file more
 * than once. */
static int first_only(struct options *o, const char *key, int *count, const char *option, struct error *err)
{
	struct arena a = { 0 };
	const char *place = config_place(&o->config, key, &a);
	static unsigned said;
	unsigned bit = option[1] == 'b' ? 1 : 2;
	bool several = *count > 1;
	if (several && !place)
		error_set(err, "%s: give one value of %s, not %d", o->command->name, option, *count);
	else if (several && !o->quiet && !(said & bit))
		fprintf(stderr, "benanza: %s: %s takes the first value; %s gives another\n", place,
			o->command->name, option);
	*count = several ? 1 : *count;
	said |= several ? bit : 0;
	arena_free(&a);
	return several && !place ? -1 : 0;
}

int options_one_plan(struct options *o, int64_t *batch, enum dtype *dtype, struct error *err)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	if (first_only(o, "batch", &o->config.batch_count, "-b", err) ||
		first_only(o, "dtype", &o->config.dtype_count, "-t", err))
		return -1;
	options_batches(o, batches);
	options_dtypes(o, dtypes);
	*batch = batches[0];
	*dtype = dtypes[0];
	return 0;
}
