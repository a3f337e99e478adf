#include "config.h"

#include "commands/command.h"

#include "base/log.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What an option's value sets. */
enum option_use {
	USE_CONFIG, /* passed to config_set with `key` */
	USE_FILE,   /* the configuration file */
	USE_DIM,
	USE_INPUT,
	USE_VALUE,
	USE_FLAG,   /* sets a bool of struct options */
	USE_TEXT    /* sets a string of struct options */
};

#define AT(field) offsetof(struct options, field)

static const struct option_row {
	const char *name;
	char letter;       /* 0 = none */
	const char *value; /* its placeholder; NULL = takes none */
	enum option_use use;
	const char *key;   /* USE_CONFIG: key of the configuration */
	size_t offset;     /* USE_FLAG, USE_TEXT: of the field in struct options */
	const char *text;
} option_rows[] = {
	{ "config", 'c', "FILE", USE_FILE, NULL, 0, "configuration file (benanza.yaml(5))" },
	{ "db", 0, "FILE", USE_CONFIG, "db", 0, "database of results" },
	{ "device", 'd', "NAME", USE_CONFIG, "device", 0,
		"a runner (cpu, cuda:1), a recorded device (model, number, part of its stack), or a "
		"described one (h100)" },
	{ "batch", 'b', "LIST", USE_CONFIG, "batch", 0, "batch sizes, e.g. 1,8,32" },
	{ "dtype", 't', "LIST", USE_CONFIG, "dtype", 0, "data types, e.g. f32,bf16" },
	{ "dim", 0, "NAME=VALUE", USE_DIM, NULL, 0, "value of a symbolic dimension (repeatable; remembered)" },
	{ "input", 0, "NAME=1x3x224x224", USE_INPUT, NULL, 0, "shape of a model input (repeatable)" },
	{ "value", 0, "NAME=16000", USE_VALUE, NULL, 0,
		"value of a model input that decides shapes or branches (repeatable)" },
	{ "what-if", 'w', "LIST", USE_CONFIG, "what_if", 0, "e.g. fusion,matrix=off,algorithm=preferred" },
	{ "budget", 0, "MS", USE_CONFIG, "budget_ms", 0, "measuring time for a problem and algorithm" },
	{ "budget-ms", 0, "MS", USE_CONFIG, "budget_ms", 0, "same as --budget; the name used in jobs" },
	{ "threads", 0, "N", USE_CONFIG, "threads", 0, "threads of the CPU runner" },
	{ "json", 0, NULL, USE_FLAG, NULL, AT(json), "JSON on standard output (benanza-json(5))" },
	{ "csv", 0, NULL, USE_FLAG, NULL, AT(csv), "comma-separated values" },
	{ "ascii", 0, NULL, USE_FLAG, NULL, AT(ascii), "ASCII characters only" },
	{ "no-color", 0, NULL, USE_CONFIG, "color", 0, "no colours (NO_COLOR does the same)" },
	{ "quiet", 'q', NULL, USE_FLAG, NULL, AT(quiet), "no progress, no notes" },
	{ "verbose", 'v', NULL, USE_FLAG, NULL, AT(verbose), "write a log ($XDG_STATE_HOME/benanza/log)" },
	{ "constants", 0, NULL, USE_FLAG, NULL, AT(constants),
		"with layers: also list layers that only compute constants" },
	{ "again", 0, NULL, USE_FLAG, NULL, AT(again), "with bench: measure everything again" },
	{ "shaky", 0, NULL, USE_FLAG, NULL, AT(shaky), "with bench: also measure noisy results again" },
	{ "emit-jobs", 0, NULL, USE_FLAG, NULL, AT(emit_jobs),
		"with bench: print jobs for a runner on another machine, measure nothing" },
	{ "caches", 0, "LIST", USE_TEXT, NULL, AT(caches),
		"with bench: cache states (net,warm,cold), all measured again" },
	{ "launches", 0, "LIST", USE_TEXT, NULL, AT(launches), "with --emit-jobs: launch modes (amortized,isolated)" },
	{ "frame", 0, "120x40", USE_TEXT, NULL, AT(frame), "print one screen of the explorer and exit" },
	{ "view", 0, "NAME", USE_TEXT, NULL, AT(view), "with --frame: the view to show" },
	{ "keys", 0, "KEYS", USE_TEXT, NULL, AT(keys), "with --frame: keys to press first" },
	{ "svg", 0, NULL, USE_FLAG, NULL, AT(svg), "with --frame: the screen as an SVG picture, in colour" },
	{ "version", 0, NULL, USE_FLAG, NULL, AT(version), "print the version and exit" },
	{ "help", 'h', NULL, USE_FLAG, NULL, AT(help), "print this help and exit" },
};

#define OPTION_COUNT ((int)(sizeof(option_rows) / sizeof(option_rows[0])))
#define OPTION_BASE 256 /* getopt codes of rows without a letter */

void options_help(FILE *out)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *r = &option_rows[i];
		char left[64];
		snprintf(left, sizeof(left), "%c%c%c --%s %s", r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
			r->letter ? ',' : ' ', r->name, r->value ? r->value : "");
		fprintf(out, "  %-30s %s\n", left, r->text);
	}
}

void options_man(struct str *out)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *r = &option_rows[i];
		str_addf(out, ".TP\n");
		if (r->letter)
			str_addf(out, "\\fB\\-%c\\fR, ", r->letter);
		str_addf(out, "\\fB\\-\\-%s\\fR%s%s%s\n%s\n", r->name, r->value ? " \\fI" : "", r->value ? r->value : "",
			r->value ? "\\fR" : "", r->text);
	}
}

static int input_parse(struct options *o, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	if (!equals || equals == text)
		return error_set(err, "--input %s: give NAME=1x3x224x224", text);
	size_t length = (size_t)(equals - text);
	struct plan_input_shape one = { .name = { arena_strndup(&o->arena, text, length), length } };
	for (const char *p = equals + 1;; p++) {
		size_t n = strcspn(p, "x");
		if (one.rank == PROBLEM_RANK || !text_to_int64((struct text){ p, n }, &one.dims[one.rank]) ||
			one.dims[one.rank] < 1)
			return error_set(err, "--input %s: give up to %d numbers from 1 with x between, e.g. 1x3x224x224",
				text, PROBLEM_RANK);
		one.rank++;
		p += n;
		if (!*p)
			break;
	}
	struct plan_input_shape *more = ARENA_ARRAY(&o->arena, struct plan_input_shape, o->shape_count + 1);
	for (int i = 0; i < o->shape_count; i++)
		more[i] = o->shapes[i];
	more[o->shape_count++] = one;
	o->shapes = more;
	return 0;
}

/* A number; "true" is 1, "false" 0. */
static bool number_parse(const char *word, double *number)
{
	char *end;
	*number = strcmp(word, "true") == 0;
	if (*number || strcmp(word, "false") == 0)
		return true;
	*number = strtod(word, &end);
	return end != word && !*end;
}

static int value_parse(struct options *o, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	if (!equals || equals == text)
		return error_set(err,
			"--value %s: give NAME=16000, or NAME=16000,12000 for each element", text);
	size_t length = (size_t)(equals - text), most = 1;
	for (const char *p = equals; *p; p++)
		most += *p == ',';
	double *numbers = ARENA_ARRAY(&o->arena, double, most);
	struct plan_input_value one = { .name = { arena_strndup(&o->arena, text, length), length },
		.numbers = numbers };
	for (const char *p = equals + 1; one.count < (int)most; p += strcspn(p, ",") + 1) {
		size_t n = strcspn(p, ",");
		char *word = arena_strndup(&o->arena, p, n);
		if (!number_parse(word, &numbers[one.count++]))
			return error_set(err, "--value %s: '%s' is not a number", text, word);
	}
	struct plan_input_value *more = ARENA_ARRAY(&o->arena, struct plan_input_value, o->value_count + 1);
	for (int i = 0; i < o->value_count; i++)
		more[i] = o->values[i];
	more[o->value_count++] = one;
	o->values = more;
	return 0;
}

static int dim_parse(struct options *o, const char *text, struct error *err)
{
	struct dim_binding *more = ARENA_ARRAY(&o->arena, struct dim_binding, o->dim_count + 1);
	for (int i = 0; i < o->dim_count; i++)
		more[i] = o->dims[i];
	if (config_parse_dim(text, &o->arena, &more[o->dim_count], err))
		return -1;
	o->dim_count++;
	o->dims = more;
	return 0;
}

static int option_apply(struct options *o, const struct option_row *r, const char *value, struct error *err)
{
	switch (r->use) {
	case USE_CONFIG:
		o->batch_option |= r->letter == 'b';
		return config_set(&o->config, r->key, value ? value : "no", err);
	case USE_DIM:
		return dim_parse(o, value, err);
	case USE_INPUT:
		return input_parse(o, value, err);
	case USE_VALUE:
		return value_parse(o, value, err);
	case USE_FLAG:
		*(bool *)((char *)o + r->offset) = true;
		return 0;
	case USE_TEXT:
		*(const char **)((char *)o + r->offset) = value;
		return 0;
	case USE_FILE:
		return 0; /* read in the first pass */
	}
	return 0;
}

/* Levenshtein distance by dynamic programming, one row of the table at a time (Wagner and Fischer, 1974). */
int word_distance(const char *a, const char *b)
{
	int row[32];
	size_t n = strlen(b);
	if (n >= 32)
		return 32;
	for (size_t k = 0; k <= n; k++)
		row[k] = (int)k;
	for (size_t i = 0; a[i]; i++) {
		int corner = row[0]++;
		for (size_t k = 1; k <= n; k++) {
			int change = corner + (a[i] != b[k - 1]),
				gap = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
			corner = row[k];
			row[k] = change < gap ? change : gap;
		}
	}
	return row[n];
}

/* getopt's tables, made from option_rows. */
static void getopt_tables(char *letters, struct option *longs)
{
	*letters++ = '-'; /* arguments that are not options are returned in order, with code 1 */
	*letters++ = ':'; /* a missing value returns ':', an unknown option '?' */
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *r = &option_rows[i];
		longs[i] = (struct option){ r->name, r->value ? required_argument : no_argument, NULL,
			r->letter ? r->letter : OPTION_BASE + i };
		if (!r->letter)
			continue;
		*letters++ = r->letter;
		if (r->value)
			*letters++ = ':';
	}
	*letters = '\0';
	longs[OPTION_COUNT] = (struct option){ 0 };
}

static const struct option_row *option_of(int code)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (code == option_rows[i].letter || code == OPTION_BASE + i)
			return &option_rows[i];
	return NULL;
}

/* The option whose name is nearest to "--nmae=3", or NULL. */
static const char *option_nearest_name(const char *given)
{
	const char *best = NULL;
	int least = 3; /* accepts up to two edits */
	char name[32];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	for (int i = 0; i < OPTION_COUNT; i++) {
		int distance = word_distance(name, option_rows[i].name);
		best = distance < least ? option_rows[i].name : best;
		least = distance < least ? distance : least;
	}
	return best;
}

static int option_unknown(int code, char **argv, struct error *err)
{
	const char *word = argv[optind - 1],
		*nearest = strncmp(word, "--", 2) == 0 ? option_nearest_name(word + 2) : NULL;
	if (code == ':')
		return error_set(err, "option %s needs a value; see --help", argv[optind - 1]);
	if (optopt > 0 && optopt < OPTION_BASE)
		return error_set(err, "unknown option -%c; see --help", optopt);
	if (nearest)
		return error_set(err, "unknown or ambiguous option %s; did you mean --%s?", word, nearest);
	return error_set(err, "unknown or ambiguous option %s; see --help", word);
}

/* One pass over argv. only_first: applies only the options that come before all others: --config, --help and
 * --version; the last two work even if other options are wrong. */
static int options_pass(struct options *o, int argc, char **argv, bool only_first, const char **file,
	struct error *err)
{
	char letters[3 + 2 * OPTION_COUNT];
	struct option longs[OPTION_COUNT + 1];
	getopt_tables(letters, longs);
	optind = 0;
	opterr = 0;
	o->argc = 0;
	int bad = 0;
	for (int code; (code = getopt_long(argc, argv, letters, longs, NULL)) != -1 &&
		(!bad || only_first);) {
		const struct option_row *r = option_of(code);
		if (code == 1)
			o->argv[o->argc++] = optarg;
		else if (!r)
			bad = option_unknown(code, argv, err);
		else if (r->use == USE_FILE)
			*file = optarg;
		else if (!only_first || r->offset == AT(help) || r->offset == AT(version))
			bad |= option_apply(o, r, optarg, err);
	}
	o->may_command = o->argc > 0;
	for (int i = optind; i < argc && !bad; i++)
		o->argv[o->argc++] = argv[i];
	return bad;
}

/* -v: appends to $XDG_STATE_HOME/benanza/log, not to the terminal, on which the explorer draws. */
static int log_open(struct options *o, struct error *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const char *folder = state && *state ? state :
		arena_printf(&o->arena, "%s/.local/state", home ? home : "");
	char *path = arena_printf(&o->arena, "%s/benanza/log", folder);
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0777);
			*p = '/';
		}
	o->log = fopen(path, "a");
	if (!o->log)
		return error_set(err, "%s: cannot write the log: %s", path, strerror(errno));
	log_to(o->log);
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct error *err)
{
	const char *file = NULL;
	o->argv = ARENA_ARRAY(&o->arena, const char *, argc + 1);
	int bad = options_pass(o, argc, argv, true, &file, err);
	if (o->help || o->version)
		return 0;
	if (bad || config_load(&o->config, file, err) || options_pass(o, argc, argv, false, &file, err))
		return -1;
	const char *no_color = getenv("NO_COLOR");
	o->color = o->config.color && !(no_color && *no_color);
	o->ascii = o->ascii || o->config.ascii;
	if (o->json && o->csv)
		return error_set(err, "--json and --csv exclude each other");
	return o->verbose ? log_open(o, err) : 0;
}

void options_free(struct options *o)
{
	log_to(NULL);
	if (o->log)
		fclose(o->log);
	config_free(&o->config);
	arena_free(&o->arena);
}

int options_expect(const struct options *o, int least, int most, const char *usage, struct error *err)
{
	if (o->argc < least || o->argc > most)
		return error_set(err, "usage: benanza %s", usage);
	return 0;
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
	};
	return session_open(&o->config, &so, err);
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
	dtypes[0] = DTYPE_F32;
	for (int i = 0; i < o->config.dtype_count; i++)
		dtypes[i] = o->config.dtype[i];
	return o->config.dtype_count ? o->config.dtype_count : 1;
}
