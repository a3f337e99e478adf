/* Reads a configuration file, item by item (yaml/yaml_read.h), not as a tree: keys that are not in the option
 * table are rejected at once, and the first error in the file is the one that is reported. */
#include "config.h"

#include "base/word.h"
#include "config/config_private.h"

#include <string.h>

int reader_at(struct reader *r, int line)
{
	return error_context(r->err, "%s:%d", r->path, line);
}

int reader_next(struct reader *r)
{
	if (yaml_next(r->yaml, &r->item, r->err))
		return reader_at(r, r->item.line);
	if (r->item.kind == YAML_ALIAS || r->item.anchor.p) {
		error_set(
			r->err, "anchors and aliases (&name, *name) are not supported; write the value out");
		return reader_at(r, r->item.line);
	}
	return 0;
}

int reader_wants(struct reader *r, const char *key, const char *what)
{
	error_set(r->err, "%s: expected %s", key, what);
	return reader_at(r, r->item.line);
}

int reader_failed(struct reader *r, const char *key, int line)
{
	error_context(r->err, "%s", key);
	return reader_at(r, line);
}

static int read_item(struct reader *r, const struct option *o)
{
	int line = r->item.line;
	if (r->item.kind != YAML_SCALAR)
		return reader_wants(r, o->key, "a single value");
	return option_add(r->config, o, r->item.text, r->err) ? reader_failed(r, o->key, line) : 0;
}

/* "1,8" and [1, 8] are the same list. */
static int read_list(struct reader *r, const struct option *o)
{
	option_clear(r->config, o);
	if (r->item.kind == YAML_SCALAR) {
		int line = r->item.line;
		char *value = arena_strndup(&r->config->arena, r->item.text.p, r->item.text.n);
		if (strlen(value) != r->item.text.n)
			return reader_wants(r, o->key, "a list");
		return config_set(r->config, o->key, value, r->err) ? reader_at(r, line) : 0;
	}
	if (r->item.kind != YAML_LIST)
		return reader_wants(r, o->key, "a list, e.g. [1, 8]");
	while (reader_next(r) == 0) {
		if (r->item.kind == YAML_LIST_END)
			return 0;
		if (read_item(r, o))
			return -1;
	}
	return -1;
}

int reader_name(struct reader *r, const struct option *o, struct text *name, int *line)
{
	if (reader_next(r))
		return -1;
	if (r->item.kind == YAML_MAP_END)
		return 0;
	if (r->item.kind != YAML_SCALAR)
		return reader_wants(r, o->key, "a name");
	struct text t = r->item.text;
	*name = (struct text){ arena_strndup(&r->config->arena, t.p, t.n), t.n };
	*line = r->item.line;
	return reader_next(r) ? -1 : 1;
}

static int read_dims(struct reader *r, const struct option *o)
{
	struct text name;
	int line, more;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, o->key, "a map of names to numbers");
	while ((more = reader_name(r, o, &name, &line)) == 1) {
		if (r->item.kind != YAML_SCALAR)
			return reader_wants(r, o->key, "a number");
		if (option_add_dim(r->config, name, r->item.text, false, r->err))
			return reader_failed(r, o->key, line);
	}
	return more;
}

/* The scalars of a list, with blanks between them. */
static int read_joined(struct reader *r, const char *key, const char *what, struct str *out)
{
	while (reader_next(r) == 0) {
		if (r->item.kind == YAML_LIST_END)
			return out->n ? 0 : reader_wants(r, key, what);
		if (r->item.kind != YAML_SCALAR)
			return reader_wants(r, key, what);
		str_addf(out, "%s", out->n ? " " : "");
		str_add(out, r->item.text.p, r->item.text.n);
	}
	return -1;
}

/* The keys of a request, "j Down" or [j, Down], or the look of a role. */
static int read_key_value(struct reader *r, const struct option *o, struct text name, int line)
{
	bool theme = o->type == OPTION_THEME;
	const char *what = theme ? "a colour; #rrggbb needs quotes" : "keys, e.g. \"j Down\" or [j, Down]";
	struct str keys = { 0 };
	int bad = 0;
	if (r->item.kind == YAML_LIST && !theme)
		bad = read_joined(r, o->key, what, &keys);
	else if (r->item.kind != YAML_SCALAR || (theme && yaml_item_is_null(&r->item)))
		return reader_wants(r, o->key, what);
	struct text value = keys.n ? (struct text){ keys.p, keys.n } : r->item.text;
	if (!bad && option_add_key(r->config, o, name, value, line, r->err))
		bad = reader_failed(r, o->key, line);
	str_free(&keys);
	return bad;
}

/* A map of names to texts; `theme` may be a text instead. */
static int read_keys(struct reader *r, const struct option *o)
{
	struct text name;
	int line = r->item.line, more;
	bool theme = o->type == OPTION_THEME;
	if (theme && r->item.kind == YAML_SCALAR)
		return option_add_theme(r->config, o, r->item.text, line, r->err) ?
			reader_failed(r, o->key, line) : 0;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, o->key, theme ? "a theme, or a map with base and roles, e.g. { base: "
			"light, warning: 208 }" : "a map of names to keys, e.g. { down: j Down }");
	while ((more = reader_name(r, o, &name, &line)) == 1) {
		if (read_key_value(r, o, name, line))
			return -1;
	}
	return more;
}

/* The words of a command: a list, or a text that is split at blanks. Returns their number, -1 on error. */
static int read_words(struct reader *r, const struct option *o, struct text *words)
{
	struct arena *a = &r->config->arena;
	int count = 0, line = r->item.line;
	if (r->item.kind == YAML_SCALAR) {
		struct text t = r->item.text;
		count = option_words((struct text){ arena_strndup(a, t.p, t.n), t.n }, words, r->err);
		return count < 0 ? reader_failed(r, o->key, line) : count;
	}
	if (r->item.kind != YAML_LIST)
		return reader_wants(r, o->key, "a command, e.g. [ssh, gpu7, benanza-runner-cuda]");
	while (reader_next(r) == 0) {
		if (r->item.kind == YAML_LIST_END)
			return count ? count : reader_wants(r, o->key, "a command, not an empty list");
		if (r->item.kind != YAML_SCALAR)
			return reader_wants(r, o->key, "a word of the command");
		if (count == OPTION_WORDS_MAX)
			return reader_wants(r, o->key, "a shorter command");
		struct text t = r->item.text;
		words[count++] = (struct text){ arena_strndup(a, t.p, t.n), t.n };
	}
	return -1;
}

/* The keys of one runner's map, collected until its end. */
struct runner_entry {
	struct text words[OPTION_WORDS_MAX];
	int word_count; /* 0: no command yet */
	struct text count; /* empty: not given */
	struct text variables[OPTION_VARIABLES_MAX], values[OPTION_VARIABLES_MAX];
	int variable_count;
	bool has_env;
};

static int read_command(struct reader *r, const struct option *o, struct runner_entry *e)
{
	e->word_count = read_words(r, o, e->words);
	return e->word_count < 0 ? -1 : 0;
}

static int read_count(struct reader *r, const struct option *o, struct runner_entry *e)
{
	if (r->item.kind != YAML_SCALAR || r->item.text.n == 0)
		return reader_wants(r, o->key, "a number of processes");
	struct text t = r->item.text;
	e->count = (struct text){ arena_strndup(&r->config->arena, t.p, t.n), t.n };
	return 0;
}

static int read_env(struct reader *r, const struct option *o, struct runner_entry *e)
{
	struct text name;
	int line, more;
	e->has_env = true;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, o->key, "a map of variables to values");
	while ((more = reader_name(r, o, &name, &line)) == 1) {
		if (r->item.kind != YAML_SCALAR)
			return reader_wants(r, o->key, "a value");
		if (e->variable_count == OPTION_VARIABLES_MAX)
			return reader_wants(r, o->key, "a shorter list of variables");
		struct text t = r->item.text;
		e->variables[e->variable_count] = name;
		e->values[e->variable_count++] =
			(struct text){ arena_strndup(&r->config->arena, t.p, t.n), t.n };
	}
	return more;
}

static int read_runner_key(struct reader *r, const struct option *o, struct text key, int line,
	struct runner_entry *e)
{
	const struct {
		const char *name;
		int (*read)(struct reader *r, const struct option *o, struct runner_entry *e);
		bool given;
	} keys[] = { { "command", read_command, e->word_count > 0 }, { "count", read_count, e->count.n > 0 },
		{ "env", read_env, e->has_env } };
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!text_is(key, keys[i].name))
			continue;
		if (!keys[i].given)
			return keys[i].read(r, o, e);
		error_set(r->err, "%s: %s is given twice", o->key, keys[i].name);
		return reader_at(r, line);
	}
	error_set(r->err, "%s: unknown key %.*s; an entry has command, count and env", o->key,
		key.n > 40 ? 40 : (int)key.n, key.p);
	return reader_at(r, line);
}

static int read_runner(struct reader *r, const struct option *o, struct runner_entry *e)
{
	struct text key;
	int line, more;
	if (r->item.kind != YAML_MAP)
		return read_command(r, o, e);
	while ((more = reader_name(r, o, &key, &line)) == 1)
		if (read_runner_key(r, o, key, line, e))
			return -1;
	return more < 0 ? -1 : e->word_count ? 0 : reader_wants(r, o->key, "a command");
}

static int add_runner(struct config *c, const struct option *o, struct text name,
	const struct runner_entry *e, struct error *err)
{
	if (option_add_runner(c, o, name, e->words, e->word_count, false, err) ||
		(e->count.n && option_runner_count(c, o, e->count, err)))
		return -1;
	for (int i = 0; i < e->variable_count; i++)
		if (option_runner_variable(c, o, e->variables[i], e->values[i], err))
			return -1;
	return 0;
}

static int read_runners(struct reader *r, const struct option *o)
{
	struct text name;
	int line, more;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, o->key, "a map of names to commands");
	while ((more = reader_name(r, o, &name, &line)) == 1) {
		struct runner_entry entry = { 0 };
		if (read_runner(r, o, &entry))
			return -1;
		if (add_runner(r->config, o, name, &entry, r->err))
			return reader_failed(r, o->key, line);
	}
	return more;
}

/* Keeps the what-ifs of a text with their line, which are checked when the file is read. */
static int note_what_ifs(struct reader *r)
{
	struct config *c = r->file;
	for (struct text rest = r->item.text; rest.p;) {
		const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
		size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
		if (!c->what_if_words)
			c->what_if_words = ARENA_ARRAY(&c->arena, struct config_word, CONFIG_WORDS_MAX);
		if (c->what_if_word_count == CONFIG_WORDS_MAX)
			return reader_wants(r, "what_if", "fewer what-ifs");
		c->what_if_words[c->what_if_word_count++] = (struct config_word){ .name = r->scenario,
			.value = arena_strndup(&c->arena, rest.p, n), .line = r->item.line };
		rest = comma ? (struct text){ comma + 1, rest.n - n - 1 } : (struct text){ 0 };
	}
	return 0;
}

/* "fusion,parallel" and [fusion, parallel] are the same what-ifs. */
static int read_what_if(struct reader *r, const struct option *o)
{
	struct str list = { 0 };
	int bad = 0, line = r->item.line;
	const struct option *to = option_find(TEXT("what_if"));
	if (r->item.kind == YAML_SCALAR) {
		str_add(&list, r->item.text.p, r->item.text.n);
		bad = list.n ? note_what_ifs(r) : 0; /* "": none, as [] */
	} else if (r->item.kind != YAML_LIST)
		bad = reader_wants(r, o->key, r->scenario ?
			"what-ifs, e.g. [fusion, matrix=off], or a map with what_if" :
			"what-ifs, e.g. [fusion, matrix=off]");
	while (!bad && r->item.kind != YAML_SCALAR) {
		bad = reader_next(r);
		if (bad || r->item.kind == YAML_LIST_END)
			break;
		if (r->item.kind != YAML_SCALAR) {
			bad = reader_wants(r, o->key, "a what-if, e.g. fusion");
			break;
		}
		str_addf(&list, list.n ? "," : "");
		str_add(&list, r->item.text.p, r->item.text.n);
		bad = note_what_ifs(r);
		r->item.kind = YAML_LIST; /* the list goes on */
	}
	if (!bad && list.n && option_add(r->config, to, (struct text){ list.p, list.n }, r->err))
		bad = reader_failed(r, o->key, line);
	str_free(&list);
	return bad;
}

static int read_value(struct reader *r, const struct option *o);

/* One key of a scenario's map, into r->config. */
static int read_scenario_key(struct reader *r, const struct option *o, struct text key, int line,
	uint64_t *seen)
{
	static const char *const keys[] = { "what_if", "batch", "dtype", "device", "dims" };
	const int count = sizeof(keys) / sizeof(keys[0]);
	int i = 0;
	while (i < count && !text_is(key, keys[i]))
		i++;
	bool again = i < count && *seen & 1ull << i;
	if (i == count)
		error_set(r->err, "%s: unknown key %.*s; a scenario has what_if, batch, dtype, device and "
			"dims", o->key, key.n > 40 ? 40 : (int)key.n, key.p);
	else if (again)
		error_set(r->err, "%s: %s is given twice", o->key, keys[i]);
	if (i == count || again)
		return reader_at(r, line);
	*seen |= 1ull << i;
	return read_value(r, option_find(key));
}

/* Reads the value of one scenario into r->config, which has nothing else. */
static int read_scenario(struct reader *r, const struct option *o)
{
	struct text key;
	int line, more;
	uint64_t seen = 0;
	if (yaml_item_is_null(&r->item))
		return 0;
	if (r->item.kind != YAML_MAP)
		return read_what_if(r, o);
	while ((more = reader_name(r, o, &key, &line)) == 1)
		if (read_scenario_key(r, o, key, line, &seen))
			return -1;
	if (!more && (r->config->batch_count > 1 || r->config->dtype_count > 1))
		return reader_wants(r, o->key, "one batch and one data type in a scenario");
	return more;
}

static int read_scenarios(struct reader *r, const struct option *o)
{
	struct text name;
	int line, more;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, o->key, "a map of names to what-ifs");
	while ((more = reader_name(r, o, &name, &line)) == 1) {
		struct config one = { 0 }, *all = r->config;
		r->config = &one;
		r->scenario = name.p;
		int bad = read_scenario(r, o);
		r->scenario = NULL;
		r->config = all;
		struct config_scenario new = { .name = name.p, .line = line, .what_if = one.what_if,
			.device = one.device, .batch = one.batch_count ? one.batch[0] : 0,
			.has_dtype = one.dtype_count > 0, .dtype = one.dtype[0], .dim_count = one.dim_count,
			.dims = one.dims };
		if (!bad && strlen(name.p) != name.n)
			new.name = ""; /* it contains a NUL */
		if (!bad && option_add_scenario(all, &new, false, r->err))
			bad = reader_failed(r, o->key, line);
		config_free(&one);
		if (bad)
			return -1;
	}
	return more;
}

static int read_value(struct reader *r, const struct option *o)
{
	if (yaml_item_is_null(&r->item))
		return 0;
	if (o->type == OPTION_DIMS)
		return read_dims(r, o);
	if (o->type == OPTION_KEYS || o->type == OPTION_THEME)
		return read_keys(r, o);
	if (o->type == OPTION_RUNNERS)
		return read_runners(r, o);
	if (o->type == OPTION_SCENARIOS)
		return read_scenarios(r, o);
	if (o->type == OPTION_OPERATORS)
		return reader_operators(r, o);
	if (strcmp(o->key, "what_if") == 0)
		return read_what_if(r, o);
	return option_is_list(o) ? read_list(r, o) : read_item(r, o);
}

static int read_key(struct reader *r, const struct option **o)
{
	struct text key = r->item.text;
	int line = r->item.line, shown = key.n > 40 ? 40 : (int)key.n;
	*o = option_find(key);
	if (*o && (!r->only || text_is(key, r->only))) {
		uint64_t bit = 1ull << option_row(*o);
		if (!(r->seen & bit)) {
			r->seen |= bit;
			return 0;
		}
		error_set(r->err, "%s is given twice", (*o)->key);
		return reader_at(r, line);
	}
	const char *nearest = r->only ? r->only : option_nearest(key);
	struct arena a = { 0 };
	struct word_nearest near = { .word = arena_strndup(&a, key.p, key.n < 40 ? key.n : 40) };
	if (r->only)
		word_try(&near, r->only);
	arena_free(&a);
	if (r->only && *o)
		error_set(r->err, "unknown key %s; this file has %s only", (*o)->key, r->only);
	else if (r->only) /* a sidecar is untrusted and may be a link to any file: its text is not quoted */
		error_set(r->err, near.best ? "unknown key; did you mean %s?" :
			"unknown key; this file has %s only", r->only);
	else if (nearest)
		error_set(r->err, "unknown key %.*s; did you mean %s?", shown, key.p, nearest);
	else
		error_set(r->err, "unknown key %.*s; the keys are in benanza.yaml(5)", shown, key.p);
	return reader_at(r, line);
}

static int read_top(struct reader *r)
{
	const struct option *o;
	if (yaml_item_is_null(&r->item))
		return 0;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, "the file", "a map of keys to values, e.g. \"batch: [1, 8]\"");
	while (reader_next(r) == 0) {
		if (r->item.kind == YAML_MAP_END)
			return 0;
		if (r->item.kind != YAML_SCALAR)
			return reader_wants(r, "the file", "a key");
		int line = r->item.line;
		if (read_key(r, &o) || reader_next(r) || read_value(r, o))
			return -1;
		r->config->lines[option_row(o)] = line;
	}
	return -1;
}

int config_read_yaml(struct config *c, const char *path, const char *only, struct error *err)
{
	struct reader r = { .config = c, .file = c, .path = path, .only = only, .err = err };
	r.yaml = yaml_open(path, CONFIG_FILE_MAX, err);
	int rc = r.yaml ? reader_next(&r) : -1;
	if (!rc && r.item.kind != YAML_END)
		rc = read_top(&r) ? -1 : reader_next(&r); /* after it: a second document is an error */
	yaml_close(r.yaml);
	return rc;
}
