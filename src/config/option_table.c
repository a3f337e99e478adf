/* A row per option: its key, type, range, default and text. All that reads, writes, prints or completes
 * options loops over the rows. */
#include "config.h"

#include "config/option_table.h"

#include "base/word.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPTION_TEXT_MAX 4096
#define OPTION_NAME_MAX 256
#define OPTION_MAP_MAX 256
#define FIELD(name) offsetof(struct config, name)
#define LIST(name) offsetof(struct config, name), offsetof(struct config, name##_count)

static const struct option options[] = {
	{ "db", OPTION_TEXT, FIELD(db), 0, 0, 0, NULL, "$XDG_DATA_HOME/benanza/benanza.db", "--db FILE",
		"the database of results" },
	{ "device", OPTION_TEXT, FIELD(device), 0, 0, 0, NULL, "the first runner configured",
		"-d, --device NAME",
		"the device to measure or read: the name of a runner, or of a recorded or described device" },
	{ "batch", OPTION_NUMBERS, LIST(batch), 1, 65536, NULL, "the model's own, else 1", "-b, --batch LIST",
		"batch sizes" },
	{ "dtype", OPTION_DTYPES, LIST(dtype), 0, 0, NULL, "the model's own", "-t, --dtype LIST",
		"data types" },
	{ "what_if", OPTION_TEXT, FIELD(what_if), 0, 0, 0, NULL, "none", "-w, --what-if LIST",
		"what-ifs in use at the start, e.g. fusion,matrix=off" },
	{ "algorithms", OPTION_CHOICE, FIELD(algorithms), 0, 0, 0, "best|preferred|all", "best", NULL,
		"cost of a layer: that of its fastest algorithm (best), or of the library's first choice "
		"(preferred); all: the fastest, including algorithms that libraries' "
		"heuristics do not return" },
	{ "functions", OPTION_CHOICE, FIELD(functions), 0, 0, 0, "operators|expand", "operators",
		"--functions WHICH",
		"a model function with the name of an operator runs as that operator, or as the "
		"function's nodes" },
	{ "budget_ms", OPTION_NUMBER, FIELD(budget_ms), 0, 1, 600000, NULL, "200", "--budget MS",
		"time to sample one algorithm of one problem" },
	{ "problem_limit_ms", OPTION_NUMBER, FIELD(problem_limit_ms), 0, 100, 3600000, NULL, "30000", NULL,
		"time limit of one problem" },
	{ "measure", OPTION_CHOICE, FIELD(measure), 0, 0, 0, "ask|always|never", "ask", NULL,
		"whether the explorer measures a model without results when it opens it" },
	{ "quick", OPTION_FLAG, FIELD(quick), 0, 0, 0, NULL, "true", NULL,
		"measuring begins with a quick pass, for a rough bound after seconds; bench "
		"--no-quick skips it" },
	{ "threads", OPTION_INT, FIELD(threads), 0, 0, 4096, NULL, "0", "--threads N",
		"number of threads; 0: one per core that the process may use" },
	{ "color", OPTION_FLAG, FIELD(color), 0, 0, 0, NULL, "true, unless NO_COLOR is set", "--no-color",
		"colours on the terminal" },
	{ "ascii", OPTION_FLAG, FIELD(ascii), 0, 0, 0, NULL, "false", "--ascii",
		"draw with ASCII characters only" },
	{ "theme", OPTION_THEME, LIST(theme), 0, 0, NULL, "auto", "--theme NAME",
		"colours of the explorer: auto, dark, light, ansi or mono, and styles of roles" },
	{ "mouse", OPTION_FLAG, FIELD(mouse), 0, 0, 0, NULL, "false", NULL,
		"the explorer uses clicks and the wheel; Shift then selects text" },
	{ "key_wait_ms", OPTION_INT, FIELD(key_wait_ms), 0, 1, 5000, NULL, "300", NULL,
		"how long the explorer waits after a key that also has a meaning alone (5 of 5j)" },
	{ "columns", OPTION_WORDS, LIST(columns), 0, 0, NULL, "as many as fit", NULL,
		"further columns of the explorer's layers view, e.g. bound,peak,fusion (see its key |)" },
	{ "dims", OPTION_DIMS, FIELD(dims), FIELD(dim_count), 0, 1000000000, NULL, "none", "--dim NAME=VALUE",
		"values for symbolic dimensions" },
	{ "keys", OPTION_KEYS, LIST(keys), 0, 0, NULL, "those of benanza(1)", NULL,
		"keys of the explorer's requests, by name, e.g. down: j Down ^N" },
	{ "runners", OPTION_RUNNERS, FIELD(runners), FIELD(runner_count), 0, 0, NULL,
		"cpu: benanza-runner-cpu", NULL,
		"commands that start runners: any program that speaks the protocol on standard input and "
		"output" },
	{ "agents", OPTION_RUNNERS, FIELD(agents), FIELD(agent_count), 0, 0, NULL,
		"ort, openvino, trtexec, torch: programs in share/benanza/agents", NULL,
		"commands that start agents, which run whole models with a framework" },
	{ "python", OPTION_TEXT, FIELD(python), 0, 0, 0, NULL, "python3", NULL,
		"interpreter of the built-in agents, e.g. that of a virtual environment" },
	{ "scenarios", OPTION_SCENARIOS, FIELD(scenarios), FIELD(scenario_count), 0, 0, NULL, "none", NULL,
		"named scenarios for -w: what-ifs, and a batch, data type, device and dimensions" },
	{ "operators", OPTION_OPERATORS, FIELD(operators), FIELD(operators.count), 0, 0, NULL, "none", NULL,
		"custom operators: shapes, work, and a kernel or a time" },
};
#define OPTION_COUNT ((int)(sizeof(options) / sizeof(options[0])))
_Static_assert(OPTION_COUNT <= CONFIG_LIST_MAX, "struct config has a line of each");

const struct option *option_table(int *count)
{
	*count = OPTION_COUNT;
	return options;
}

const struct option *option_find(struct text key)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (text_is(key, options[i].key))
			return &options[i];
	return NULL;
}

int option_row(const struct option *o)
{
	return (int)(o - options);
}

const char *option_nearest(struct text key)
{
	const char *nearest = NULL;
	int best = 99;
	for (int i = 0; i < OPTION_COUNT; i++) {
		int distance = word_distance(key, text_of(options[i].key), false);
		if (distance < best) {
			best = distance;
			nearest = options[i].key;
		}
	}
	return nearest && best <= 1 + (int)strlen(nearest) / 3 ? nearest : NULL;
}

static void *option_field(const struct config *c, size_t offset)
{
	return (char *)c + offset; /* casts const away: callers that write own a mutable config */
}

static int *option_count(const struct config *c, const struct option *o)
{
	return option_field(c, o->count_offset);
}

static int option_parse_number(
	struct text value, int64_t least, int64_t most, int64_t *number, struct error *err)
{
	if (!text_to_int64(value, number)) {
		bool digits = value.n > 0;
		for (size_t i = 0; i < value.n; i++)
			digits &= (value.p[i] >= '0' && value.p[i] <= '9') ||
				  (i == 0 && value.p[i] == '-' && value.n > 1);
		return error_set(err, "%.*s %s %" PRId64 "..%" PRId64, value.n > 40 ? 40 : (int)value.n,
			value.p, digits ? "is out of range" : "is not an integer in", least, most);
	}
	if (*number < least || *number > most)
		return error_set(
			err, "%" PRId64 " is out of range %" PRId64 "..%" PRId64, *number, least, most);
	return 0;
}

static int option_add_text(struct config *c, const struct option *o, struct text value, struct error *err)
{
	size_t blanks = 0;
	while (blanks < value.n && (value.p[blanks] == ' ' || value.p[blanks] == '\t'))
		blanks++;
	if (blanks == value.n)
		return error_set(err, "is empty: give a value, or leave it out");
	if (value.n > OPTION_TEXT_MAX || memchr(value.p, 0, value.n))
		return error_set(err, "is not a valid text (longer than %d bytes, or contains a NUL)",
			OPTION_TEXT_MAX);
	*(const char **)option_field(c, o->offset) = arena_strndup(&c->arena, value.p, value.n);
	return 0;
}

static int option_add_words(struct config *c, const struct option *o, struct text value, struct error *err)
{
	const char **list = option_field(c, o->offset), *before = *list;
	if (option_add_text(c, o, value, err))
		return -1;
	if (++*option_count(c, o) > 1)
		*list = arena_printf(&c->arena, "%s,%s", before, *list);
	return 0;
}

static int option_add_choice(struct config *c, const struct option *o, struct text value, struct error *err)
{
	for (const char *p = o->choices; *p;) {
		size_t n = strcspn(p, "|");
		if (text_equal(value, (struct text){ p, n })) {
			*(const char **)option_field(c, o->offset) = arena_strndup(&c->arena, p, n);
			return 0;
		}
		p += n + (p[n] == '|');
	}
	return error_set(err, "%.*s is not one of %s", value.n > 40 ? 40 : (int)value.n, value.p, o->choices);
}

static int option_add_number(struct config *c, const struct option *o, struct text value, struct error *err)
{
	int64_t number;
	if (option_parse_number(value, o->least, o->most, &number, err))
		return -1;
	if (o->type == OPTION_INT)
		*(int *)option_field(c, o->offset) = (int)number;
	else
		*(int64_t *)option_field(c, o->offset) = number;
	return 0;
}

static int option_add_flag(struct config *c, const struct option *o, struct text value, struct error *err)
{
	static const char *const words[2][4] = { { "false", "no", "off", "0" },
		{ "true", "yes", "on", "1" } };
	for (int yes = 0; yes < 2; yes++)
		for (int i = 0; i < 4; i++)
			if (text_is(value, words[yes][i])) {
				*(bool *)option_field(c, o->offset) = yes;
				return 0;
			}
	return error_set(err, "%.*s is not true or false", value.n > 40 ? 40 : (int)value.n, value.p);
}

static int option_add_numbers(struct config *c, const struct option *o, struct text value, struct error *err)
{
	int *count = option_count(c, o);
	int64_t *list = option_field(c, o->offset), number;
	if (option_parse_number(value, o->least, o->most, &number, err))
		return -1;
	for (int i = 0; i < *count; i++)
		if (list[i] == number)
			return error_set(err, "%" PRId64 " is given twice: leave one out", number);
	if (*count == CONFIG_LIST_MAX)
		return error_set(err, "more than %d values", CONFIG_LIST_MAX);
	list[(*count)++] = number;
	return 0;
}

static int option_add_dtypes(struct config *c, const struct option *o, struct text value, struct error *err)
{
	int *count = option_count(c, o);
	enum dtype *list = option_field(c, o->offset), dtype;
	if (dtype_take_asked(value, &dtype, err))
		return -1;
	for (int i = 0; i < *count; i++)
		if (list[i] == dtype)
			return error_set(err, "%s is given twice: leave one out", dtype_name(dtype));
	if (*count == CONFIG_LIST_MAX)
		return error_set(err, "more than %d values", CONFIG_LIST_MAX);
	list[(*count)++] = dtype;
	return 0;
}

static int option_name_fits(struct text name, struct error *err)
{
	if (name.n == 0 || name.n > OPTION_NAME_MAX || memchr(name.p, 0, name.n))
		return error_set(
			err, "a name is empty, longer than %d bytes, or contains a NUL", OPTION_NAME_MAX);
	return 0;
}

int option_add_dim(struct config *c, struct text name, struct text value, bool replace, struct error *err)
{
	const struct option *o = option_find(TEXT("dims"));
	int64_t number;
	if (option_name_fits(name, err))
		return -1;
	if (option_parse_number(value, o->least, o->most, &number, err))
		return error_context(err, "%.*s", (int)name.n, name.p);
	for (int i = 0; i < c->dim_count; i++)
		if (text_equal(c->dims[i].name, name)) {
			if (!replace)
				return error_set(err, "%.*s is given twice", (int)name.n, name.p);
			c->dims[i].value = number;
			return 0;
		}
	if (c->dim_count == OPTION_MAP_MAX)
		return error_set(err, "more than %d dimensions", OPTION_MAP_MAX);
	if (c->dim_count == 0)
		c->dims = ARENA_ARRAY(&c->arena, struct dim_binding, OPTION_MAP_MAX);
	c->dims[c->dim_count].name = (struct text){ arena_strndup(&c->arena, name.p, name.n), name.n };
	c->dims[c->dim_count++].value = number;
	return 0;
}

int option_add_key(struct config *c, const struct option *o, struct text name, struct text value, int line,
	struct error *err)
{
	struct config_word **list = option_field(c, o->offset);
	int *count = option_count(c, o);
	if (option_name_fits(name, err) || option_name_fits(value, err))
		return -1;
	for (int i = 0; i < *count; i++)
		if (text_is(name, (*list)[i].name))
			return error_set(err, "%.*s is given twice", (int)name.n, name.p);
	if (*count == OPTION_MAP_MAX)
		return error_set(err, "more than %d entries", OPTION_MAP_MAX);
	if (*count == 0)
		*list = ARENA_ARRAY(&c->arena, struct config_word, OPTION_MAP_MAX);
	(*list)[(*count)++] = (struct config_word){ arena_strndup(&c->arena, name.p, name.n),
		arena_strndup(&c->arena, value.p, value.n), line };
	return 0;
}

int option_add_theme(
	struct config *c, const struct option *o, struct text value, int line, struct error *err)
{
	if (!value.n)
		return error_set(err, "is empty: give a theme, e.g. dark");
	if (value.p[value.n - 1] == ',')
		return error_set(err, "has an empty item: remove the comma at the end");
	for (size_t i = 0; i < value.n;) {
		while (i < value.n && value.p[i] == ' ')
			i++;
		const char *item = value.p + i, *end = memchr(item, ',', value.n - i);
		size_t n = end ? (size_t)(end - item) : value.n - i;
		const char *equals = n ? memchr(item, '=', n) : NULL;
		size_t name = equals ? (size_t)(equals - item) : 0;
		struct text base = TEXT("base"), all = { item, n };
		if (option_add_key(c, o, equals ? (struct text){ item, name } : base,
			    equals ? (struct text){ equals + 1, n - name - 1 } : all, line, err))
			return -1;
		i += n + 1;
	}
	return 0;
}

int option_words(struct text command, struct text *words, struct error *err)
{
	int count = 0;
	for (size_t i = 0; i < command.n;) {
		if (strchr(" \t\n", command.p[i])) {
			i++;
			continue;
		}
		size_t from = i;
		while (i < command.n && !strchr(" \t\n", command.p[i]))
			i++;
		if (count == OPTION_WORDS_MAX)
			return error_set(err, "the command has more than %d words", OPTION_WORDS_MAX);
		words[count++] = (struct text){ command.p + from, i - from };
	}
	return count ? count : error_set(err, "the command is empty");
}

static int option_runner_name_fits(struct text name, struct error *err)
{
	if (option_name_fits(name, err))
		return -1;
	for (size_t i = 0; i < name.n; i++) {
		char ch = name.p[i];
		bool good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (ch >= '0' && ch <= '9') || ch == '_' || ch == '-' || ch == '.';
		if (!good)
			return error_set(err,
				"%.*s: a runner's name may contain only letters, digits, '_', '-' and '.'",
				(int)name.n, name.p);
	}
	return 0;
}

/* Copies a word of a command; in a path, "~/" expands to the home directory, as in a shell. */
static const char *option_word_copy(struct arena *a, struct text word, bool path)
{
	const char *home = getenv("HOME");
	if (path && home && word.n > 1 && word.p[0] == '~' && word.p[1] == '/')
		return arena_printf(a, "%s%.*s", home, (int)(word.n - 1), word.p + 1);
	return arena_strndup(a, word.p, word.n);
}

/* The runners or agents of a configuration; their number is option_count. */
static struct config_runner **option_runners(const struct config *c, const struct option *o)
{
	return option_field(c, o->offset);
}

/* Returns the entry with that name, or a new one; NULL if the table is full. */
static struct config_runner *option_runner_entry(struct config *c, const struct option *o, struct text name,
	bool *is_new)
{
	struct config_runner **list = option_runners(c, o);
	int *count = option_count(c, o);
	*is_new = false;
	for (int i = 0; i < *count; i++)
		if (text_is(name, (*list)[i].name))
			return &(*list)[i];
	*is_new = true;
	if (*count >= CONFIG_LIST_MAX)
		return NULL;
	if (!*list)
		*list = ARENA_ARRAY(&c->arena, struct config_runner, CONFIG_LIST_MAX + 1);
	return &(*list)[(*count)++];
}

int option_add_runner(struct config *c, const struct option *o, struct text name, const struct text *words,
	int count, bool replace, struct error *err)
{
	bool is_new;
	if (option_runner_name_fits(name, err))
		return -1;
	for (int i = 0; i < count; i++)
		if (words[i].n > OPTION_TEXT_MAX || memchr(words[i].p, 0, words[i].n) || words[0].n == 0)
			return error_set(err, "%.*s: the command is empty, too long or contains a NUL",
				(int)name.n, name.p);
	struct config_runner *r = option_runner_entry(c, o, name, &is_new);
	if (!r)
		return error_set(err, "more than %d %s", CONFIG_LIST_MAX, o->key);
	if (!is_new && !replace)
		return error_set(err, "%.*s is given twice", (int)name.n, name.p);
	r->name = arena_strndup(&c->arena, name.p, name.n);
	r->argc = count;
	r->argv = ARENA_ARRAY(&c->arena, const char *, count + 1);
	for (int i = 0; i < count; i++)
		r->argv[i] = option_word_copy(&c->arena, words[i], i == 0);
	r->count = 1;
	r->env = NULL;
	return 0;
}

static struct config_runner *option_runner_last(const struct config *c, const struct option *o)
{
	return &(*option_runners(c, o))[*option_count(c, o) - 1];
}

int option_runner_count(struct config *c, const struct option *o, struct text value, struct error *err)
{
	int64_t n;
	if (!text_to_int64(value, &n) || n < 1 || n > OPTION_PROCESSES_MAX)
		return error_set(err, "count: %.*s is not a number from 1 to %d", value.n > 40 ? 40 :
			(int)value.n, value.p,
			OPTION_PROCESSES_MAX);
	option_runner_last(c, o)->count = (int)n;
	return 0;
}

static bool option_is_variable(struct text name)
{
	for (size_t i = 0; i < name.n; i++) {
		char ch = name.p[i];
		bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
		if (!letter && (i == 0 || ch < '0' || ch > '9'))
			return false;
	}
	return name.n > 0 && name.n <= 256;
}

int option_runner_variable(struct config *c, const struct option *o, struct text name, struct text value,
	struct error *err)
{
	struct config_runner *r = option_runner_last(c, o);
	int count = 0;
	if (!option_is_variable(name))
		return error_set(err, "env: %.*s is not a valid variable name", name.n > 40 ? 40 :
			(int)name.n, name.p);
	if (value.n > OPTION_TEXT_MAX || memchr(value.p, 0, value.n))
		return error_set(err, "env: the value of %.*s is too long or contains a NUL", (int)name.n,
			name.p);
	while (r->env && r->env[count])
		if (strncmp(r->env[count++], name.p, name.n) == 0 && r->env[count - 1][name.n] == '=')
			return error_set(err, "env: %.*s is given twice", (int)name.n, name.p);
	if (count == OPTION_VARIABLES_MAX)
		return error_set(err, "env: more than %d variables", OPTION_VARIABLES_MAX);
	if (!r->env)
		r->env = ARENA_ARRAY(&c->arena, const char *, OPTION_VARIABLES_MAX + 1);
	r->env[count] = arena_printf(&c->arena, "%.*s=%.*s", (int)name.n, name.p, (int)value.n, value.p);
	return 0;
}

typedef int option_add_function(
	struct config *c, const struct option *o, struct text value, struct error *err);

static const struct {
	option_add_function *add; /* NULL: maps, which have their own functions */
	bool list;
} option_types[OPTION_TYPE_COUNT] = {
	[OPTION_TEXT] = { option_add_text, false },
	[OPTION_CHOICE] = { option_add_choice, false },
	[OPTION_NUMBER] = { option_add_number, false },
	[OPTION_INT] = { option_add_number, false },
	[OPTION_FLAG] = { option_add_flag, false },
	[OPTION_NUMBERS] = { option_add_numbers, true },
	[OPTION_WORDS] = { option_add_words, true },
	[OPTION_DTYPES] = { option_add_dtypes, true },
	[OPTION_DIMS] = { NULL, true },
	[OPTION_KEYS] = { NULL, true },
	[OPTION_THEME] = { NULL, true },
	[OPTION_RUNNERS] = { NULL, true },
	[OPTION_SCENARIOS] = { NULL, true },
	[OPTION_OPERATORS] = { NULL, true },
};

bool option_is_list(const struct option *o)
{
	return option_types[o->type].list;
}

void option_clear(struct config *c, const struct option *o)
{
	if (option_is_list(o))
		*option_count(c, o) = 0;
}

int option_add(struct config *c, const struct option *o, struct text value, struct error *err)
{
	return option_types[o->type].add(c, o, value, err);
}
