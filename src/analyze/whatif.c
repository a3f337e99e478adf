#include "config.h"

#include "analyze/scenario.h"

#include <string.h>

#define TOGGLE(field)                                                  \
	static bool field##_get(const struct scenario *s)              \
	{                                                              \
		return s->field;                                       \
	}                                                              \
	static void field##_set(struct scenario *s, bool on)           \
	{                                                              \
		s->field = on;                                         \
	}
TOGGLE(parallel)
TOGGLE(fusion)
TOGGLE(matrix)
TOGGLE(best)
TOGGLE(amortized)
TOGGLE(relaxed)
TOGGLE(nxc)
#undef TOGGLE

static const struct what_if table[] = {
	{ "parallel", 'p', "parallel",
		"independent layers run at the same time: the longest path instead of the sum", parallel_get,
		parallel_set, "on", "off", false, NULL },
	{ "fusion", 'f', "fusion",
		"fuse following layers into the kernel (batch norm, bias, activation, sums; attention as a "
		"whole), where "
		"the fused kernel is faster",
		fusion_get, fusion_set, "on", "off", false, "no layers of the model can be fused" },
	{ "matrix", 'm', "matrix",
		"allow algorithms on matrix units (AMX, tensor cores), at the data types of the scenario",
		matrix_get, matrix_set, "on", "off", false, "no problem here can run on matrix units" },
	{ "algorithm", 'a', "best algo",
		"each layer runs the fastest algorithm measured (best), or the library's first choice "
		"(preferred)",
		best_get, best_set, "best", "preferred", false, "estimates have no algorithms" },
	{ "launch", 'l', "launch",
		"executions back to back, launch cost spread over them (amortized), or each on its own "
		"(isolated)",
		amortized_get, amortized_set, "amortized", "isolated", false, "estimates have no launches" },
	{ "math", 'r', "math",
		"allow algorithms that round operands to lower precision (relaxed: TF32, half precision "
		"inside f32), or "
		"not (strict); those on matrix units need matrix too",
		relaxed_get, relaxed_set, "relaxed", "strict", true,
		"no measured algorithm rounds to lower precision" },
	{ "layout", 'o', "layout",
		"channels last in the whole model (nhwc), with conversions where a layer, a model input or a "
		"model output "
		"needs the other order; off: as the library chooses or as in ONNX (nchw)",
		nxc_get, nxc_set, "nhwc", "nchw", true, "no layer has a channels-last form" },
};
#define TABLE_COUNT ((int)(sizeof(table) / sizeof(table[0])))

struct scenario scenario_default(void)
{
	return (struct scenario){ .best = true, .amortized = true };
}

const struct what_if *what_if_table(int *count)
{
	*count = TABLE_COUNT;
	return table;
}

static struct text trimmed(const char *p, size_t n)
{
	while (n > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		n--;
	}
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return (struct text){ p, n };
}

static int shown(struct text t)
{
	return t.n > 40 ? 40 : (int)t.n;
}

static int unknown_name(struct text name, struct error *err)
{
	char names[128] = "";
	for (int i = 0; i < TABLE_COUNT; i++) {
		strcat(names, i ? ", " : "");
		strcat(names, table[i].name);
	}
	return error_set(err, "unknown what-if '%.*s'; use %s", shown(name), name.p, names);
}

/* One "name" or "name=word". */
static int parse_item(struct scenario *s, struct text item, struct error *err)
{
	const char *equals = item.n ? memchr(item.p, '=', item.n) : NULL;
	struct text name = item, word = TEXT("on");
	if (equals) {
		name = trimmed(item.p, (size_t)(equals - item.p));
		word = trimmed(equals + 1, item.n - (size_t)(equals - item.p) - 1);
	}
	for (int i = 0; i < TABLE_COUNT; i++) {
		const struct what_if *row = &table[i];
		if (!text_is(name, row->name))
			continue;
		bool on = text_is(word, row->on) || text_is(word, "on");
		if (!on && !text_is(word, row->off) && !text_is(word, "off"))
			return error_set(err, "what-if %s: '%.*s' is not %s or %s", row->name, shown(word),
				word.p, row->on, row->off);
		row->set(s, on);
		return 0;
	}
	return unknown_name(name, err);
}

int scenario_parse(struct scenario *s, const char *list, struct error *err)
{
	struct scenario parsed = *s;
	if (trimmed(list, strlen(list)).n == 0)
		return 0;
	for (const char *p = list; p;) {
		const char *comma = strchr(p, ',');
		struct text item = trimmed(p, comma ? (size_t)(comma - p) : strlen(p));
		if (parse_item(&parsed, item, err) < 0)
			return -1;
		p = comma ? comma + 1 : NULL;
	}
	*s = parsed;
	return 0;
}

char *scenario_text(const struct scenario *s, char *buf, size_t size)
{
	size_t used = 0;
	if (size > 0)
		buf[0] = '\0';
	for (int i = 0; i < TABLE_COUNT; i++) {
		size_t n = strlen(table[i].name), comma = used > 0;
		if (!table[i].get(s))
			continue;
		if (used + comma + n + 1 > size)
			break; /* whole names only */
		if (comma)
			buf[used++] = ',';
		memcpy(buf + used, table[i].name, n + 1);
		used += n;
	}
	return buf;
}
