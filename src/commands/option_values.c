/* Values of options that have a syntax of their own: --dim, --input, --value, those of agents. */
#include "config.h"

#include "commands/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int options_add_dim(struct options *o, const char *text, struct error *err)
{
	struct dim_binding *more = ARENA_ARRAY(&o->arena, struct dim_binding, o->dim_count + 1);
	for (int i = 0; i < o->dim_count; i++)
		more[i] = o->dims[i];
	struct dim_binding *one = &more[o->dim_count];
	if (config_parse_dim(text, &o->arena, one, err))
		return error_context(err, "--dim");
	if (text_is(one->name, "batch") && one->value < 1)
		return error_set(err, "--dim batch=%lld: a batch is at least 1", (long long)one->value);
	for (int i = 0; i < o->dim_count; i++) {
		if (!text_equal(more[i].name, one->name))
			continue;
		if (more[i].value != one->value && !o->overrides)
			return error_set(err, "--dim %.60s contradicts --dim %.*s=%lld: leave one out", text,
				(int)one->name.n, one->name.p, (long long)more[i].value);
		more[i].value = one->value;
	}
	o->dim_count++;
	o->dims = more;
	return 0;
}

int options_add_assume(struct options *o, const char *text, struct error *err)
{
	struct assume_item one, *more;
	if (assume_parse(arena_strndup(&o->arena, text, strlen(text)), &one, err))
		return error_context(err, "--assume");
	more = ARENA_ARRAY(&o->arena, struct assume_item, o->assume_count + 1);
	int count = 0;
	for (int i = 0; i < o->assume_count; i++)
		if (!o->overrides || !text_equal(o->assume[i].layer, one.layer))
			more[count++] = o->assume[i];
	more[count++] = one;
	o->assume_count = count;
	o->assume = more;
	return 0;
}

int options_add_input(struct options *o, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	if (!equals || equals == text)
		return error_set(err, "--input %.60s: give NAME=1x3x224x224", text);
	size_t length = (size_t)(equals - text);
	struct plan_input_shape one = { .name = { arena_strndup(&o->arena, text, length), length } };
	for (const char *p = equals + 1;; p++) {
		size_t n = strcspn(p, "x");
		if (one.rank == PROBLEM_RANK || !text_to_int64((struct text){ p, n }, &one.dims[one.rank]) ||
			one.dims[one.rank] < 1)
			return error_set(err,
				"--input %.60s: give up to %d numbers from 1 with x between, "
				"e.g. 1x3x224x224", text, PROBLEM_RANK);
		one.rank++;
		p += n;
		if (!*p)
			break;
	}
	struct plan_input_shape *more = ARENA_ARRAY(&o->arena, struct plan_input_shape, o->shape_count + 1);
	for (int i = 0; i < o->shape_count; i++) {
		more[i] = o->shapes[i];
		bool equal = more[i].rank == one.rank &&
			     memcmp(more[i].dims, one.dims, (size_t)one.rank * sizeof(one.dims[0])) == 0;
		if (text_equal(more[i].name, one.name) && o->overrides)
			more[i] = one;
		else if (text_equal(more[i].name, one.name) && !equal)
			return error_set(err,
				"--input %.60s contradicts an earlier shape of %.*s: leave one out", text,
				(int)one.name.n, one.name.p);
	}
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
	errno = 0;
	*number = strtod(word, &end);
	return end != word && !*end && !(errno == ERANGE && isinf(*number));
}

int options_add_value(struct options *o, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	if (!equals || equals == text)
		return error_set(err,
			"--value %.60s: give NAME=16000, or NAME=16000,12000 for each element", text);
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
			return error_set(err, "--value %.60s: '%.40s' is not a number", text, word);
	}
	struct plan_input_value *more = ARENA_ARRAY(&o->arena, struct plan_input_value, o->value_count + 1);
	for (int i = 0; i < o->value_count; i++) {
		more[i] = o->values[i];
		bool equal = more[i].count == one.count &&
			     memcmp(more[i].numbers, numbers, (size_t)one.count * sizeof(*numbers)) == 0;
		if (text_equal(more[i].name, one.name) && o->overrides)
			more[i] = one;
		else if (text_equal(more[i].name, one.name) && !equal)
			return error_set(err,
				"--value %.60s contradicts an earlier value of %.*s: leave one out", text,
				(int)one.name.n, one.name.p);
	}
	more[o->value_count++] = one;
	o->values = more;
	return 0;
}

#define REQUESTS_MOST 1024
#define AGENT_OPTION_MOST 4096 /* bytes of a value */

int options_set_requests(struct options *o, const char *text, struct error *err)
{
	int64_t requests = 0;
	if (*text < '1' || *text > '9' || !text_to_int64(text_of(text), &requests) ||
		requests > REQUESTS_MOST)
		return error_set(err, "--requests %.60s: give a number from 1 to %d", text, REQUESTS_MOST);
	o->requests = (int)requests;
	return 0;
}

int options_add_agent_option(struct options *o, const char *text, struct error *err)
{
	static const char key_bytes[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";
	size_t length = strspn(text, key_bytes), size = strlen(text);
	const char *value = text + length + 1;
	if (!length || text[length] != '=' || size > AGENT_OPTION_MOST ||
		strcmp(text_clean(&o->arena, text_of(value)), value) != 0)
		return error_set(err, "--agent-option %.60s: give KEY=VALUE, the key of letters, digits and "
		"._:-, the value of printable text; e.g. session.intra_op.allow_spinning=0", text);
	const char *key = arena_strndup(&o->arena, text, length);
	const char *before = json_string_at(o->agent_options, key, value);
	if (strcmp(before, value) != 0 && !o->overrides)
		return error_set(err,
			"--agent-option %.60s contradicts --agent-option %.60s=%.60s: leave one out", text,
			key, before);
	o->agent_options = o->agent_options ? o->agent_options : json_object();
	json_object_set_new(o->agent_options, key, json_text(text_of(value)));
	return 0;
}

int options_check_agents(const struct options *o, bool runs, const char *needs, struct error *err)
{
	if (runs || (!o->requests && !o->agent_options))
		return 0;
	return error_set(err, "--%s: needs %s, which runs agents", o->requests ? "requests" : "agent-option",
		needs);
}
