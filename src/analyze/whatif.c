#include "config.h"

#include "analyze/analyze_private.h"

#include <stdio.h>
#include <string.h>

#define CHOICE(field, type)                                            \
	static int field##_get(const struct scenario *s)               \
	{                                                              \
		return (int)s->field;                                  \
	}                                                              \
	static void field##_set(struct scenario *s, int choice)        \
	{                                                              \
		s->field = (type)choice;                               \
	}
CHOICE(parallel, enum parallel)
CHOICE(fusion, enum fusion_level)
CHOICE(matrix, bool)
CHOICE(best, bool)
CHOICE(amortized, bool)
CHOICE(relaxed, bool)
CHOICE(layouts, enum layouts)
#undef CHOICE

static const struct what_if table[] = {
	{ "parallel", 'p', "parallel",
		"independent layers run at the same time as memory, caches and units allow (resources), or "
		"without limit (path)",
		STAGE_TOTAL, { "off", "resources", "path" }, parallel_get, parallel_set, false, NULL, NULL },
	{ "fusion", 'f', "fusion",
		"fuse following layers into the kernel where the fused kernel is faster: bias and activation "
		"(epilogue), also batch norm and sums (fold), also attention and activations in parts "
		"(pattern), or also pointwise chains (all)",
		STAGE_RESULTS, { "off", "all", "epilogue", "fold", "pattern" }, fusion_get, fusion_set, false,
		"no layers of the model can be fused", fusion_available },
	{ "matrix", 'm', "matrix",
		"allow algorithms on matrix units (AMX, tensor cores), at the data types of the scenario",
		STAGE_RESULTS, { "off", "on" }, matrix_get, matrix_set, false,
		"no problem here can run on matrix units", matrix_available },
	{ "algorithm", 'a', "best algo",
		"each layer runs the fastest algorithm measured (best), or the library's first choice "
		"(preferred)",
		STAGE_RESULTS, { "preferred", "best" }, best_get, best_set, false,
		"estimates have no algorithms", algorithm_available },
	{ "launch", 'l', "launch",
		"executions back to back, launch cost spread over them (amortized), or each on its own "
		"(isolated)",
		STAGE_RESULTS, { "isolated", "amortized" }, amortized_get, amortized_set, false,
		"estimates by the peaks alone have no launches", launch_available },
	{ "math", 'r', "math",
		"allow algorithms that round operands to lower precision (relaxed: TF32, half precision "
		"inside f32), or "
		"not (strict); those on matrix units need matrix too",
		STAGE_RESULTS, { "strict", "relaxed" }, relaxed_get, relaxed_set, true,
		"no measured algorithm rounds to lower precision", math_available },
	{ "layout", 'o', "layout",
		"channels last in the whole model (nhwc), with conversions at its borders; or each layer its "
		"own, for the cheapest total with conversions (priced); off: as the library chooses or as in "
		"ONNX (nchw)",
		STAGE_PLAN, { "nchw", "nhwc", "priced" }, layouts_get, layouts_set, true,
		"no layer has a channels-last form",
		layout_available },
};
#define TABLE_COUNT ((int)(sizeof(table) / sizeof(table[0])))

bool fusion_allows(enum fusion_level chosen, enum fusion_level group)
{
	static const int steps[] = { [FUSION_OFF] = 0, [FUSION_EPILOGUE] = 1, [FUSION_FOLD] = 2,
		[FUSION_PATTERN] = 3, [FUSION_ALL] = 4 };
	return steps[group] <= steps[chosen];
}

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

int what_if_choices(const struct what_if *w)
{
	int count = 0;
	while (w->choices[count])
		count++;
	return count;
}

/* The choice that a word names, or -1. */
static int choice_named(const struct what_if *row, struct text word)
{
	for (int i = 0; row->choices[i]; i++)
		if (text_is(word, row->choices[i]))
			return i;
	return text_is(word, "on") ? 1 : text_is(word, "off") ? 0 : -1;
}

static int unknown_choice(const struct what_if *row, struct text word, struct error *err)
{
	char words[128] = "";
	for (int i = what_if_choices(row) - 1; i >= 0; i--) {
		strcat(words, row->choices[i]);
		strcat(words, i > 1 ? ", " : i ? " or " : "");
	}
	return error_set(err, "what-if %s: '%.*s' is not %s", row->name, shown(word), word.p, words);
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
		if (!text_is(name, table[i].name))
			continue;
		int choice = choice_named(&table[i], word);
		if (choice < 0)
			return unknown_choice(&table[i], word, err);
		table[i].set(s, choice);
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
		char item[64];
		int choice = table[i].get(s);
		snprintf(item, sizeof(item), "%s%s%s", table[i].name, choice > 1 ? "=" : "",
			choice > 1 ? table[i].choices[choice] : "");
		size_t n = strlen(item), comma = used > 0;
		if (!choice)
			continue;
		if (used + comma + n + 1 > size)
			break; /* whole names only */
		if (comma)
			buf[used++] = ',';
		memcpy(buf + used, item, n + 1);
		used += n;
	}
	return buf;
}
