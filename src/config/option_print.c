/* Prints options as YAML that reads back to the same values. */
#include "config.h"

#include "config/option_table.h"

#include <inttypes.h>
#include <string.h>

#include "yaml/yaml_write.h"

/* Plain, else in double quotes; bytes that are not UTF-8 are kept. */
static void print_text(struct str *out, struct text t)
{
	if (yaml_text_is_plain(t)) {
		str_add(out, t.p, t.n);
		return;
	}
	str_add(out, "\"", 1);
	for (size_t i = 0; i < t.n; i++) {
		unsigned char c = (unsigned char)t.p[i];
		if (c == '"' || c == '\\')
			str_addf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			str_addf(out, "\\x%02x", c);
		else
			str_add(out, (const char *)&t.p[i], 1);
	}
	str_add(out, "\"", 1);
}

static void print_text_option(const struct config *c, const struct option *o, struct str *out)
{
	const char *value = *(const char *const *)((const char *)c + o->offset);
	str_addf(out, value ? "%s: " : "# %s:", o->key);
	if (value)
		print_text(out, text_of(value));
	str_addf(out, "\n");
}

static void print_number(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, "%s: %" PRId64 "\n", o->key, *(const int64_t *)((const char *)c + o->offset));
}

static void print_int(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, "%s: %d\n", o->key, *(const int *)((const char *)c + o->offset));
}

static void print_flag(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, "%s: %s\n", o->key, *(const bool *)((const char *)c + o->offset) ? "true" : "false");
}

static void print_numbers(const struct config *c, const struct option *o, struct str *out)
{
	const int64_t *list = (const int64_t *)(const void *)((const char *)c + o->offset);
	int count = *(const int *)(const void *)((const char *)c + o->count_offset);
	str_addf(out, count ? "%s: [" : "# %s:", o->key);
	for (int i = 0; i < count; i++)
		str_addf(out, "%s%" PRId64, i ? ", " : "", list[i]);
	str_addf(out, count ? "]\n" : "\n");
}

static void print_dtypes(const struct config *c, const struct option *o, struct str *out)
{
	const enum dtype *list = (const enum dtype *)(const void *)((const char *)c + o->offset);
	int count = *(const int *)(const void *)((const char *)c + o->count_offset);
	str_addf(out, count ? "%s: [" : "# %s:", o->key);
	for (int i = 0; i < count; i++)
		str_addf(out, "%s%s", i ? ", " : "", dtype_name(list[i]));
	str_addf(out, count ? "]\n" : "\n");
}

static void print_dims(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, c->dim_count ? "%s:\n" : "# %s:\n", o->key);
	for (int i = 0; i < c->dim_count; i++) {
		str_addf(out, "    ");
		print_text(out, c->dims[i].name);
		str_addf(out, ": %" PRId64 "\n", c->dims[i].value);
	}
}

static void print_keys(const struct config *c, const struct option *o, struct str *out)
{
	const struct config_word *list =
		*(struct config_word *const *)(const void *)((const char *)c + o->offset);
	int count = *(const int *)(const void *)((const char *)c + o->count_offset);
	str_addf(out, count ? "%s:\n" : "# %s:\n", o->key);
	for (int i = 0; i < count; i++) {
		str_addf(out, "    ");
		print_text(out, text_of(list[i].name));
		str_addf(out, ": ");
		print_text(out, text_of(list[i].value));
		str_addf(out, "\n");
	}
}

static void print_command(const struct config_runner *r, struct str *out)
{
	str_addf(out, "[");
	for (int i = 0; i < r->argc; i++) {
		str_addf(out, i ? ", " : "");
		print_text(out, text_of(r->argv[i]));
	}
	str_addf(out, "]\n");
}

static void print_runners(const struct config *c, const struct option *o, struct str *out)
{
	const struct config_runner *list =
		*(struct config_runner *const *)(const void *)((const char *)c + o->offset);
	int count = *(const int *)(const void *)((const char *)c + o->count_offset);
	str_addf(out, count ? "%s:\n" : "# %s:\n", o->key);
	for (int i = 0; i < count; i++) {
		const struct config_runner *r = &list[i];
		bool plain = r->count <= 1 && !r->env;
		str_addf(out, "    ");
		print_text(out, text_of(r->name));
		str_addf(out, plain ? ": " : ":\n        command: ");
		print_command(r, out);
		if (r->count > 1)
			str_addf(out, "        count: %d\n", r->count);
		if (r->env)
			str_addf(out, "        env:\n");
		for (int e = 0; r->env && r->env[e]; e++) {
			const char *equals = strchr(r->env[e], '=');
			str_addf(out, "            \"%.*s\": ", (int)(equals - r->env[e]), r->env[e]);
			print_text(out, text_of(equals + 1));
			str_addf(out, "\n");
		}
	}
}

static void print_scenarios(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, c->scenario_count ? "%s:\n" : "# %s:\n", o->key);
	for (int i = 0; i < c->scenario_count; i++) {
		const struct config_scenario *s = &c->scenarios[i];
		str_addf(out, "    ");
		print_text(out, text_of(s->name));
		str_addf(out, s->saved ? ": # saved\n        what_if: " : ":\n        what_if: ");
		if (s->what_if)
			print_text(out, text_of(s->what_if));
		str_addf(out, "\n");
		if (s->batch)
			str_addf(out, "        batch: %" PRId64 "\n", s->batch);
		if (s->has_dtype)
			str_addf(out, "        dtype: %s\n", dtype_name(s->dtype));
		if (s->device) {
			str_addf(out, "        device: ");
			print_text(out, text_of(s->device));
			str_addf(out, "\n");
		}
		if (s->dim_count)
			str_addf(out, "        dims:\n");
		for (int k = 0; k < s->dim_count; k++) {
			str_addf(out, "            ");
			print_text(out, s->dims[k].name);
			str_addf(out, ": %" PRId64 "\n", s->dims[k].value);
		}
	}
}

static void print_value(const struct op_own_text *x, const char *before, struct str *out)
{
	str_puts(out, before);
	if (x->name.n) {
		print_text(out, x->name);
		str_puts(out, ": ");
	}
	print_text(out, x->text);
}

static void print_operators(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, c->operators.count ? "%s:\n" : "# %s:\n", o->key);
	for (int i = 0; i < c->operators.count; i++) {
		const struct op_own_given *g = op_own_entry(&c->operators, i);
		const char *before = "    - ";
		for (int key = 0; key < OP_OWN_KEYS; key++) {
			const struct op_own_values *values = &g->keys[key];
			enum op_own_form form = op_own_rows[key].form;
			if (!values->count)
				continue;
			str_addf(out, "%s%s: ", before, op_own_rows[key].name);
			for (int k = 0; k < values->count; k++)
				print_value(&values->at[k], k ? ", " : form == OP_OWN_LIST ? "[" :
					form == OP_OWN_MAP ? "{ " : "", out);
			str_puts(out, form == OP_OWN_LIST ? "]\n" : form == OP_OWN_MAP ? " }\n" : "\n");
			before = "      ";
		}
	}
}

typedef void option_print_function(const struct config *c, const struct option *o, struct str *out);

static option_print_function *const printers[OPTION_TYPE_COUNT] = {
	[OPTION_TEXT] = print_text_option,
	[OPTION_CHOICE] = print_text_option,
	[OPTION_NUMBER] = print_number,
	[OPTION_INT] = print_int,
	[OPTION_FLAG] = print_flag,
	[OPTION_NUMBERS] = print_numbers,
	[OPTION_WORDS] = print_text_option,
	[OPTION_DTYPES] = print_dtypes,
	[OPTION_DIMS] = print_dims,
	[OPTION_KEYS] = print_keys,
	[OPTION_THEME] = print_keys,
	[OPTION_RUNNERS] = print_runners,
	[OPTION_SCENARIOS] = print_scenarios,
	[OPTION_OPERATORS] = print_operators,
};

void option_print(const struct config *c, const struct option *o, struct str *out)
{
	str_addf(out, "# %s", o->text);
	if (o->choices)
		str_addf(out, " (%s)", o->choices);
	else if (o->most)
		str_addf(out, " (%" PRId64 "..%" PRId64 ")", o->least, o->most);
	str_addf(out, "; default: %s%s%s\n", o->otherwise, o->spelling ? "; option " : "",
		o->spelling ? o->spelling : "");
	printers[o->type](c, o, out);
}
