/* Operators that the user describes: the list under `operators`. What the values mean is checked by ops. */
#include "config.h"

#include "base/word.h"
#include "config/config_private.h"

#include <string.h>
#include <sys/stat.h>

static int take_scalar(struct reader *r, const char *key, struct op_own_text *to)
{
	struct text t = r->item.text;
	if (r->item.kind != YAML_SCALAR)
		return reader_wants(r, key, "a text or number");
	to->text = (struct text){ arena_strndup(&r->config->arena, t.p, t.n), t.n };
	to->line = r->item.line;
	return 0;
}

/* "a" and [a] are the same list. */
static int read_texts(struct reader *r, const char *key, struct op_own_text *at, int *count)
{
	if (r->item.kind != YAML_LIST) {
		*count = 1;
		return take_scalar(r, key, &at[0]);
	}
	while (reader_next(r) == 0) {
		if (r->item.kind == YAML_LIST_END)
			return 0;
		if (*count == OP_OWN_VALUES)
			return reader_wants(r, key, "a shorter list");
		if (take_scalar(r, key, &at[(*count)++]))
			return -1;
	}
	return -1;
}

/* A number, or a list of numbers, which is the expression "[1,2]". */
static int read_default(struct reader *r, const char *key, struct op_own_text *to)
{
	if (r->item.kind != YAML_LIST)
		return take_scalar(r, key, to);
	struct str list = { 0 };
	int bad = 0;
	to->line = r->item.line;
	str_puts(&list, "[");
	while (!(bad = reader_next(r)) && r->item.kind != YAML_LIST_END) {
		if (r->item.kind != YAML_SCALAR) {
			bad = reader_wants(r, key, "a list of numbers");
			break;
		}
		str_puts(&list, list.n > 1 ? "," : "");
		str_add(&list, r->item.text.p, r->item.text.n);
	}
	str_puts(&list, "]");
	to->text = (struct text){ arena_strndup(&r->config->arena, list.p, list.n), list.n };
	str_free(&list);
	return bad;
}

static int read_map(struct reader *r, const struct option *o, const char *key, struct op_own_text *at,
	int *count)
{
	int line, more;
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, key, "a map of names to numbers");
	while (*count < OP_OWN_VALUES && (more = reader_name(r, o, &at[*count].name, &line)) != 0)
		if (more < 0 || read_default(r, key, &at[(*count)++]))
			return -1;
	return *count < OP_OWN_VALUES ? 0 : reader_wants(r, key, "fewer names");
}

/* The value of one key of an entry. */
static int read_key(struct reader *r, const struct option *o, struct text key, int line,
	struct op_own_given *g)
{
	struct op_own_text at[OP_OWN_VALUES] = { 0 };
	int k = 0, count = 0;
	while (k < OP_OWN_KEYS && !text_is(key, op_own_rows[k].name))
		k++;
	if (k < OP_OWN_KEYS && g->keys[k].at) {
		error_set(r->err, "%s is given twice", op_own_rows[k].name);
		return reader_at(r, line);
	}
	if (k == OP_OWN_KEYS) {
		struct word_nearest near = { .word = key.p };
		for (int i = 0; i < OP_OWN_KEYS; i++)
			word_try(&near, op_own_rows[i].name);
		error_set(r->err, "unknown key %.*s of an operator; %s%s%s", key.n > 40 ? 40 : (int)key.n,
			key.p, near.best ? "did you mean " : "the keys are in benanza.yaml(5)",
			near.best ? near.best : "", near.best ? "?" : "");
		return reader_at(r, line);
	}
	const char *name = op_own_rows[k].name;
	enum op_own_form form = op_own_rows[k].form;
	if (yaml_item_is_null(&r->item))
		return 0;
	if (form == OP_OWN_MAP ? read_map(r, o, name, at, &count) : form == OP_OWN_LIST ?
			read_texts(r, name, at, &count) : (count = 1, take_scalar(r, name, &at[0])))
		return -1;
	struct op_own_text *kept = ARENA_ARRAY(&r->config->arena, struct op_own_text, count);
	memcpy(kept, at, (size_t)count * sizeof(*kept));
	g->keys[k] = (struct op_own_values){ count, kept };
	return 0;
}

static int read_entry(struct reader *r, const struct option *o)
{
	struct op_own_given *g = ARENA_NEW(&r->config->arena, struct op_own_given);
	struct text key;
	int line, more;
	*g = (struct op_own_given){ .path = text_clean(&r->config->arena, text_of(r->path)),
		.line = r->item.line };
	if (r->item.kind != YAML_MAP)
		return reader_wants(r, o->key, "an operator, a map with name and outputs");
	while ((more = reader_name(r, o, &key, &line)) == 1)
		if (read_key(r, o, key, line, g))
			return -1;
	return more ? -1 : op_own_add(&r->config->operators, &r->config->arena, g, r->err);
}

int reader_operators(struct reader *r, const struct option *o)
{
	if (r->item.kind != YAML_LIST)
		return reader_wants(r, o->key, "a list of operators: - name: ...");
	while (reader_next(r) == 0) {
		if (r->item.kind == YAML_LIST_END)
			return 0;
		if (read_entry(r, o))
			return -1;
	}
	return -1;
}

int config_operators(const char *model_path, struct arena *a, struct op_own_table *t, struct error *err)
{
	struct config c = { 0 };
	const char *path;
	if (config_beside(model_path, ".ops.yaml", a, &path, err))
		return -1;
	if (!path)
		return 0;
	int bad = config_read_yaml(&c, path, "operators", err);
	if (!bad) {
		arena_adopt(a, &c.arena);
		t->at = c.operators.at;
		t->count = c.operators.count;
	}
	config_free(&c);
	return bad;
}
