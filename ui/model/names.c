/* Short names of operators and layers. */
#include "config.h"

#include "ui/model/private.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *app_op_short(struct app *app, struct text op)
{
	static const struct {
		const char *full, *brief;
	} shorter[] = {
		{ "DequantizeLinear", "Dequant" },
		{ "QuantizeLinear", "Quant" },
		{ "Normalization", "Norm" },
		{ "Average", "Avg" },
		{ "Convolution", "Conv" },
		{ "Quantize", "Quant" },
		{ "Linear", "Lin" },
	};
	const char *s = app_clean(app, op);
	for (size_t i = 0; i < sizeof(shorter) / sizeof(*shorter); i++) {
		const char *at = strstr(s, shorter[i].full);
		if (at)
			s = arena_printf(&app->scratch, "%.*s%s%s", (int)(at - s), s, shorter[i].brief,
				at + strlen(shorter[i].full));
	}
	return s;
}

bool name_is_op_again(const char *part, size_t n, struct text op)
{
	if (n < op.n || memcmp(part, op.p, op.n) != 0)
		return false;
	size_t i = op.n + (n > op.n && part[op.n] == '_');
	while (i < n && part[i] >= '0' && part[i] <= '9')
		i++;
	return i == n;
}

bool name_is_repeated(const char *part, size_t n, const char *next)
{
	return next[0] && strncmp(part, next, n) == 0 && (next[n] == '.' || next[n] == '/');
}

/* How much of a name is kept: raised from NAME_LEAST until the name is unique. */
enum name_detail { NAME_LEAST, NAME_OP, NAME_WHOLE };

/* True if the last part of a path names the operator, as in "layer1.0/relu". */
static bool is_named_after(const char *path, size_t n, struct text op)
{
	size_t start = n;
	while (start > 0 && path[start - 1] != '/')
		start--;
	return n - start >= op.n && strncasecmp(path + start, op.p, op.n) == 0;
}

/* Abbreviates the suffixes of quantizers, which would leave no room for the value's name. */
static size_t name_quantized(char *name, size_t n)
{
	static const struct {
		const char *end, *brief;
	} ends[] = { { "_DequantizeLinear", "_DQ" }, { "_QuantizeLinear", "_Q" } };
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t long_n = strlen(ends[i].end), brief_n = strlen(ends[i].brief);
		if (n > long_n && memcmp(name + n - long_n, ends[i].end, long_n) == 0) {
			memcpy(name + n - long_n, ends[i].brief, brief_n);
			return n - long_n + brief_n;
		}
	}
	return n;
}

/* Returns the short name, allocated in the arena. */
static const char *name_short(struct arena *a, const struct plan_layer *l, int detail)
{
	const char *name = text_clean(a, l->name);
	struct text op = text_of(text_clean(a, l->node->op));
	if (detail >= NAME_WHOLE)
		return name;
	char *out = arena_alloc(a, strlen(name) + 1);
	size_t used = 0;
	for (const char *p = name + strspn(name, "/"); *p;) {
		size_t n = strcspn(p, "/");
		const char *next = p + n + strspn(p + n, "/");
		bool last = !*next, again = last && used && name_is_op_again(p, n, op);
		bool named = again && detail == NAME_OP && is_named_after(out, used, op);
		if (named) { /* "relu/Relu_1" becomes "relu_1" */
			memcpy(out + used, p + op.n, n - op.n);
			used += n - op.n;
		}
		if (named || (again && detail == NAME_LEAST) || (!last && name_is_repeated(p, n, next))) {
			p = next;
			continue;
		}
		if (used)
			out[used++] = '/';
		memcpy(out + used, p, n);
		used += n;
		p = next;
	}
	out[used = name_quantized(out, used)] = '\0';
	return used ? out : name;
}

const char *app_name_short(struct app *app, const struct plan_layer *l)
{
	const struct plan *p = app_plan(app);
	/* false for a layer of a body */
	bool known = p && l->index >= 0 && l->index < p->layer_count && l == &p->layers[l->index];
	return name_short(&app->scratch, l, known ? app->name_detail[l->index] : NAME_LEAST);
}

const char *app_name(struct app *app, int layer)
{
	return name_short(&app->scratch, app_layer(app, layer), app->name_detail[layer]);
}

/* Each round compares all listed names and lengthens those that are not unique. */
void app_names_renew(struct app *app)
{
	size_t layers = (size_t)app->place_count;
	app->name_detail = base_realloc(app->name_detail, layers + 1);
	memset(app->name_detail, NAME_LEAST, layers + 1);
	for (int round = NAME_LEAST; round < NAME_WHOLE; round++) {
		struct arena names = { 0 }, one = { 0 }; /* a model may have a million */
		struct hash seen = { 0 };
		bool *twice = base_calloc((size_t)app->listed_count + 1, sizeof(bool));
		size_t widest = 0;
		for (int row = 0; row < app->listed_count; row++) {
			int i = app->listed[row];
			struct text name = text_of(name_short(&one, app_layer(app, i), app->name_detail[i]));
			int64_t before = hash_find(&seen, name);
			widest = name.n > widest ? name.n : widest;
			if (before >= 0)
				twice[before] = twice[row] = true;
			else
				*hash_at(&seen,
					(struct text){ arena_strndup(&names, name.p, name.n), name.n }) = row;
			arena_clear(&one);
		}
		for (int row = 0; row < app->listed_count; row++)
			app->name_detail[app->listed[row]] += twice[row];
		app->name_columns = widest < APP_NAME_COLUMNS_MAX ? (int)widest : APP_NAME_COLUMNS_MAX;
		free(twice);
		hash_free(&seen);
		arena_free(&names);
		arena_free(&one);
	}
}
