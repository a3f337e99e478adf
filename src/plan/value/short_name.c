/* Shortens names by comparing neighbouring parts of a path; only for display, never for look-ups. */
#include "config.h"

#include "plan/value/short_name.h"

#include <string.h>
#include <strings.h>

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

const char *plan_name_short(struct arena *a, const struct plan_layer *l, enum short_detail detail)
{
	const char *name = text_clean(a, l->name);
	struct text op = text_of(text_clean(a, l->node->op));
	if (detail >= SHORT_WHOLE)
		return name;
	char *out = arena_alloc(a, strlen(name) + 1);
	size_t used = 0;
	for (const char *p = name + strspn(name, "/"); *p;) {
		size_t n = strcspn(p, "/");
		const char *next = p + n + strspn(p + n, "/");
		bool last = !*next, again = last && used && name_is_op_again(p, n, op);
		bool named = again && detail == SHORT_OP && is_named_after(out, used, op);
		if (named) { /* "relu/Relu_1" becomes "relu_1" */
			memcpy(out + used, p + op.n, n - op.n);
			used += n - op.n;
		}
		if (named || (again && detail == SHORT_LEAST) || (!last && name_is_repeated(p, n, next))) {
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

int plan_named_short(const struct plan *p, const int *numbers, struct text name)
{
	for (int detail = SHORT_LEAST; detail < SHORT_WHOLE; detail++) {
		struct arena a = { 0 };
		int found = -1, count = 0;
		for (int i = 0; i < p->layer_count; i++) {
			bool same = numbers[i] && text_is(name,
				plan_name_short(&a, &p->layers[i], (enum short_detail)detail));
			found = same ? i : found;
			count += same;
			arena_clear(&a);
		}
		arena_free(&a);
		if (count == 1)
			return found;
	}
	return -1;
}
