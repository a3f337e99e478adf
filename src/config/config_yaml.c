/* The YAML reader; the only user of libyaml. It reads events, not a tree: keys that are not in the option
 * table are rejected at once, so that nesting and aliases cannot use much memory. */
#include "config.h"

#include "config/config_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

struct reader {
	struct config *config;
	const char *path, *only;
	struct str text; /* the whole file */
	yaml_parser_t parser;
	yaml_event_t event; /* the current one; valid if have */
	bool have;
	uint64_t seen; /* options that were read, one bit each */
	struct error *err;
};

static int reader_line(const struct reader *r)
{
	return (int)r->event.start_mark.line + 1;
}

/* Prepends "path:line: " to the error. */
static int reader_at(struct reader *r, int line)
{
	return error_context(r->err, "%s:%d", r->path, line);
}

static const char *reader_anchor(const yaml_event_t *e)
{
	const yaml_char_t *anchor = e->type == YAML_SCALAR_EVENT	   ? e->data.scalar.anchor
				    : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
				    : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
									   : NULL;
	return (const char *)anchor;
}

/* libyaml reports a line for syntax errors, but only an offset for bytes that are not text. */
static int reader_error_line(const struct reader *r)
{
	if (r->parser.error != YAML_READER_ERROR)
		return (int)r->parser.problem_mark.line + 1;
	int line = 1;
	for (size_t i = 0; i < r->text.n && i < r->parser.problem_offset; i++)
		line += r->text.p[i] == '\n';
	return line;
}

static int reader_next(struct reader *r)
{
	if (r->have)
		yaml_event_delete(&r->event);
	r->have = yaml_parser_parse(&r->parser, &r->event) != 0;
	if (!r->have) {
		error_set(r->err, "%s", r->parser.problem ? r->parser.problem : "cannot be read as YAML");
		return reader_at(r, reader_error_line(r));
	}
	if (r->event.type == YAML_ALIAS_EVENT || reader_anchor(&r->event)) {
		error_set(
			r->err, "anchors and aliases (&name, *name) are not supported; write the value out");
		return reader_at(r, reader_line(r));
	}
	return 0;
}

static struct text reader_scalar(const struct reader *r)
{
	return (struct text){ (const char *)r->event.data.scalar.value, r->event.data.scalar.length };
}

/* True for "key:" without a value, "~" or "null", which set nothing. */
static bool reader_is_null(const struct reader *r)
{
	struct text t = reader_scalar(r);
	return r->event.type == YAML_SCALAR_EVENT && r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (t.n == 0 || text_is(t, "~") || text_is(t, "null"));
}

static int reader_wants(struct reader *r, const char *key, const char *what)
{
	error_set(r->err, "%s: expected %s", key, what);
	return reader_at(r, reader_line(r));
}

static int reader_failed(struct reader *r, const char *key, int line)
{
	error_context(r->err, "%s", key);
	return reader_at(r, line);
}

static int read_item(struct reader *r, const struct option *o)
{
	int line = reader_line(r);
	if (r->event.type != YAML_SCALAR_EVENT)
		return reader_wants(r, o->key, "a single value");
	return option_add(r->config, o, reader_scalar(r), r->err) ? reader_failed(r, o->key, line) : 0;
}

/* "1,8" and [1, 8] are the same list. */
static int read_list(struct reader *r, const struct option *o)
{
	option_clear(r->config, o);
	if (r->event.type == YAML_SCALAR_EVENT) {
		int line = reader_line(r);
		char *value = arena_strndup(&r->config->arena, reader_scalar(r).p, reader_scalar(r).n);
		if (strlen(value) != reader_scalar(r).n)
			return reader_wants(r, o->key, "a list");
		return config_set(r->config, o->key, value, r->err) ? reader_at(r, line) : 0;
	}
	if (r->event.type != YAML_SEQUENCE_START_EVENT)
		return reader_wants(r, o->key, "a list, e.g. [1, 8]");
	while (reader_next(r) == 0) {
		if (r->event.type == YAML_SEQUENCE_END_EVENT)
			return 0;
		if (read_item(r, o))
			return -1;
	}
	return -1;
}

/* Reads the name of the next map entry into the arena. 1: an entry, whose value is the current event; 0: end
 * of the map; -1: error. */
static int read_name(struct reader *r, const struct option *o, struct text *name, int *line)
{
	if (reader_next(r))
		return -1;
	if (r->event.type == YAML_MAPPING_END_EVENT)
		return 0;
	if (r->event.type != YAML_SCALAR_EVENT)
		return reader_wants(r, o->key, "a name");
	struct text t = reader_scalar(r);
	*name = (struct text){ arena_strndup(&r->config->arena, t.p, t.n), t.n };
	*line = reader_line(r);
	return reader_next(r) ? -1 : 1;
}

static int read_dims(struct reader *r, const struct option *o)
{
	struct text name;
	int line, more;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return reader_wants(r, o->key, "a map of names to numbers");
	while ((more = read_name(r, o, &name, &line)) == 1) {
		if (r->event.type != YAML_SCALAR_EVENT)
			return reader_wants(r, o->key, "a number");
		if (option_add_dim(r->config, name, reader_scalar(r), false, r->err))
			return reader_failed(r, o->key, line);
	}
	return more;
}

/* The words of a command: a list, or a text that is split at blanks. Returns their number, -1 on error. */
static int read_words(struct reader *r, const struct option *o, struct text *words)
{
	struct arena *a = &r->config->arena;
	int count = 0, line = reader_line(r);
	if (r->event.type == YAML_SCALAR_EVENT) {
		struct text t = reader_scalar(r);
		count = option_words((struct text){ arena_strndup(a, t.p, t.n), t.n }, words, r->err);
		return count < 0 ? reader_failed(r, o->key, line) : count;
	}
	if (r->event.type != YAML_SEQUENCE_START_EVENT)
		return reader_wants(r, o->key, "a command, e.g. [ssh, gpu7, benanza-runner-cuda]");
	while (reader_next(r) == 0) {
		if (r->event.type == YAML_SEQUENCE_END_EVENT)
			return count ? count : reader_wants(r, o->key, "a command, not an empty list");
		if (r->event.type != YAML_SCALAR_EVENT)
			return reader_wants(r, o->key, "a word of the command");
		if (count == OPTION_WORDS_MAX)
			return reader_wants(r, o->key, "a shorter command");
		struct text t = reader_scalar(r);
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
	if (r->event.type != YAML_SCALAR_EVENT || reader_scalar(r).n == 0)
		return reader_wants(r, o->key, "a number of processes");
	struct text t = reader_scalar(r);
	e->count = (struct text){ arena_strndup(&r->config->arena, t.p, t.n), t.n };
	return 0;
}

static int read_env(struct reader *r, const struct option *o, struct runner_entry *e)
{
	struct text name;
	int line, more;
	e->has_env = true;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return reader_wants(r, o->key, "a map of variables to values");
	while ((more = read_name(r, o, &name, &line)) == 1) {
		if (r->event.type != YAML_SCALAR_EVENT)
			return reader_wants(r, o->key, "a value");
		if (e->variable_count == OPTION_VARIABLES_MAX)
			return reader_wants(r, o->key, "a shorter list of variables");
		struct text t = reader_scalar(r);
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
		error_set(r->err, "runners: %s is given twice", keys[i].name);
		return reader_at(r, line);
	}
	error_set(r->err, "runners: unknown key %.*s; a runner has command, count and env",
		key.n > 40 ? 40 : (int)key.n, key.p);
	return reader_at(r, line);
}

static int read_runner(struct reader *r, const struct option *o, struct runner_entry *e)
{
	struct text key;
	int line, more;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return read_command(r, o, e);
	while ((more = read_name(r, o, &key, &line)) == 1)
		if (read_runner_key(r, o, key, line, e))
			return -1;
	return more < 0 ? -1 : e->word_count ? 0 : reader_wants(r, o->key, "a command");
}

static int add_runner(struct config *c, struct text name, const struct runner_entry *e, struct error *err)
{
	if (option_add_runner(c, name, e->words, e->word_count, false, err) ||
		(e->count.n && option_runner_count(c, e->count, err)))
		return -1;
	for (int i = 0; i < e->variable_count; i++)
		if (option_runner_variable(c, e->variables[i], e->values[i], err))
			return -1;
	return 0;
}

static int read_runners(struct reader *r, const struct option *o)
{
	struct text name;
	int line, more;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return reader_wants(r, o->key, "a map of names to commands");
	while ((more = read_name(r, o, &name, &line)) == 1) {
		struct runner_entry entry = { 0 };
		if (read_runner(r, o, &entry))
			return -1;
		if (add_runner(r->config, name, &entry, r->err))
			return reader_failed(r, o->key, line);
	}
	return more;
}

static int read_value(struct reader *r, const struct option *o)
{
	if (reader_is_null(r))
		return 0;
	if (o->type == OPTION_DIMS)
		return read_dims(r, o);
	if (o->type == OPTION_RUNNERS)
		return read_runners(r, o);
	return option_is_list(o) ? read_list(r, o) : read_item(r, o);
}

static int read_key(struct reader *r, const struct option **o)
{
	struct text key = reader_scalar(r);
	int line = reader_line(r), count, shown = key.n > 40 ? 40 : (int)key.n;
	*o = option_find(key);
	if (*o && (!r->only || text_is(key, r->only))) {
		uint64_t bit = 1ull << (*o - option_table(&count));
		if (!(r->seen & bit)) {
			r->seen |= bit;
			return 0;
		}
		error_set(r->err, "%s is given twice", (*o)->key);
		return reader_at(r, line);
	}
	const char *nearest = r->only ? r->only : option_nearest(key);
	if (r->only && *o)
		error_set(r->err, "unknown key %s; this file has %s only", (*o)->key, r->only);
	else if (r->only) /* a sidecar is untrusted and may be a link to any file: its text is not quoted */
		error_set(r->err, "unknown key; this file has %s only", r->only);
	else if (nearest)
		error_set(r->err, "unknown key %.*s; did you mean %s?", shown, key.p, nearest);
	else
		error_set(r->err, "unknown key %.*s; the keys are in benanza.yaml(5)", shown, key.p);
	return reader_at(r, line);
}

static int read_top(struct reader *r)
{
	const struct option *o;
	if (reader_is_null(r))
		return 0;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return reader_wants(r, "the file", "a map of keys to values, e.g. \"batch: [1, 8]\"");
	while (reader_next(r) == 0) {
		if (r->event.type == YAML_MAPPING_END_EVENT)
			return 0;
		if (r->event.type != YAML_SCALAR_EVENT)
			return reader_wants(r, "the file", "a key");
		if (read_key(r, &o) || reader_next(r) || read_value(r, o))
			return -1;
	}
	return -1;
}

/* The stream: empty, or one document. */
static int read_stream(struct reader *r)
{
	bool had = false;
	while (reader_next(r) == 0) {
		if (r->event.type == YAML_STREAM_END_EVENT)
			return 0;
		if (r->event.type != YAML_DOCUMENT_START_EVENT)
			continue;
		if (had) {
			error_set(r->err, "a second document; the file may have only one");
			return reader_at(r, reader_line(r));
		}
		had = true;
		if (reader_next(r) || read_top(r))
			return -1;
	}
	return -1;
}

static int yaml_file(const char *path, struct str *text, struct error *err)
{
	struct stat st;
	if (stat(path, &st))
		return error_set(err, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(
			err, "%s: %s", path, S_ISDIR(st.st_mode) ? "a directory, not a file" : "not a file");
	if (st.st_size > CONFIG_FILE_MAX)
		return error_set(err, "%s: larger than %d bytes", path, CONFIG_FILE_MAX);
	FILE *f = fopen(path, "rb");
	if (!f)
		return error_set(err, "%s: %s", path, strerror(errno));
	char block[8192];
	size_t n;
	while (text->n <= CONFIG_FILE_MAX && (n = fread(block, 1, sizeof(block), f)) > 0)
		str_add(text, block, n);
	int bad = ferror(f);
	fclose(f);
	return bad ? error_set(err, "%s: cannot be read", path) : 0;
}

int config_read_yaml(struct config *c, const char *path, const char *only, struct error *err)
{
	struct reader r = { .config = c, .path = path, .only = only, .err = err };
	int rc = yaml_file(path, &r.text, err);
	if (!rc && !yaml_parser_initialize(&r.parser))
		rc = error_set(err, "%s: not enough memory to read it", path);
	if (!rc) {
		const char *bytes = r.text.p ? r.text.p : "";
		yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, r.text.n);
		rc = read_stream(&r);
		if (r.have)
			yaml_event_delete(&r.event);
		yaml_parser_delete(&r.parser);
	}
	str_free(&r.text);
	return rc;
}
