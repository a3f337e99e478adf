/* The table of what-ifs: names, choices, and what results each bars. */
#include "config.h"

#include "analyze/scenario/ran.h"
#include "analyze/scenario/scenario.h"

#include <ctype.h>
#include <math.h>
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
CHOICE(amortized, bool)
CHOICE(relaxed, bool)
CHOICE(layouts, enum layouts)
CHOICE(deterministic, bool)
CHOICE(cache, enum cache_choice)
CHOICE(huge_pages, bool)
CHOICE(pad, bool)
CHOICE(fold, bool)
CHOICE(assume, bool)
#undef CHOICE

/* ---- rows with a free value: its choice is the one after those with a word */

/* True if the word can be a name of a scenario: printable ASCII without quotes, short enough. */
static bool is_name(struct text word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] <= ' ' || word.p[i] >= 0x7f || strchr("\"'\\,", word.p[i]))
			return false;
	return word.n > 0 && word.n < SCENARIO_NAME_MAX;
}

static void name_set(char name[SCENARIO_NAME_MAX], struct text word)
{
	memset(name, 0, SCENARIO_NAME_MAX);
	memcpy(name, word.n ? word.p : "", word.n);
}

static int algorithm_get(const struct scenario *s)
{
	return s->best && s->algorithm[0] ? 2 : s->best;
}

static void algorithm_set(struct scenario *s, int choice)
{
	s->best = choice > 0;
	name_set(s->algorithm, (struct text){ 0 });
}

/* A word of letters only is a misspelt choice: names have digits or signs, and memcp[y] names the rest. */
static int algorithm_take(struct scenario *s, struct text word)
{
	bool letters = true;
	for (size_t i = 0; i < word.n; i++)
		letters &= isalpha((unsigned char)word.p[i]) != 0;
	if (letters || !is_name(word))
		return -1;
	s->best = true;
	name_set(s->algorithm, word);
	return 0;
}

static void algorithm_say(const struct scenario *s, char *buf, size_t size)
{
	snprintf(buf, size, "%s", s->algorithm);
}

static int workspace_get(const struct scenario *s)
{
	return !s->limited ? 0 : s->workspace_bytes > 0 ? 2 : 1;
}

static void workspace_set(struct scenario *s, int choice)
{
	s->limited = choice > 0;
	s->workspace_bytes = 0;
}

static const char sizes[] = "KMGT";

static int workspace_take(struct scenario *s, struct text word)
{
	double bytes = 0;
	size_t n = 0;
	while (n < word.n && n < 15 && word.p[n] >= '0' && word.p[n] <= '9')
		bytes = 10 * bytes + (word.p[n++] - '0');
	const char *unit = n < word.n ? strchr(sizes, toupper((unsigned char)word.p[n])) : NULL;
	struct text end = { word.p + n + (unit != NULL), word.n - n - (unit != NULL) };
	if (!n || (end.n && !text_is(end, "iB") && !text_is(end, "B")))
		return -1;
	s->limited = true;
	s->workspace_bytes = unit ? ldexp(bytes, 10 * (int)(unit - sizes + 1)) : bytes;
	return 0;
}

static void workspace_say(const struct scenario *s, char *buf, size_t size)
{
	double bytes = s->workspace_bytes;
	int unit = 0;
	while (unit < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, size, "%.0f%.1s", bytes, unit ? &sizes[unit - 1] : "");
}

static int libraries_get(const struct scenario *s)
{
	return s->libraries[0] != '\0';
}

static void libraries_set(struct scenario *s, int choice)
{
	(void)choice; /* the only word is "all" */
	name_set(s->libraries, (struct text){ 0 });
}

static int libraries_take(struct scenario *s, struct text word)
{
	bool empty = word.n && (word.p[0] == '+' || word.p[word.n - 1] == '+');
	for (size_t i = 1; i < word.n; i++)
		empty |= word.p[i] == '+' && word.p[i - 1] == '+';
	if (empty || !is_name(word))
		return -1;
	name_set(s->libraries, word);
	return 0;
}

static void libraries_say(const struct scenario *s, char *buf, size_t size)
{
	snprintf(buf, size, "%s", s->libraries);
}

/* ---- rows that exclude results */

static enum barred barred_if(bool barred)
{
	return barred ? BAR_YES : BAR_NONE;
}

static enum barred math_bars(const struct scenario *s, const struct result *r)
{
	return barred_if(!s->relaxed && !is_strict(r));
}

/* Algorithms that use matrix units, and those of unknown use unless they cannot (another kernel, f32 with
 * strict math). Allowing unknown ones could hide the gain in question; excluding them shows as a gap. What
 * math excludes is left to it. */
static enum barred matrix_bars(const struct scenario *s, const struct result *r)
{
	if (s->matrix || r->algorithm.matrix == MATRIX_NO || math_bars(s, r))
		return BAR_NONE;
	if (r->algorithm.matrix == MATRIX_YES)
		return BAR_YES;
	return matrix_possible(r->problem, is_strict(r)) ? BAR_UNKNOWN : BAR_NONE;
}

static enum barred workspace_bars(const struct scenario *s, const struct result *r)
{
	return barred_if(s->limited && !(ran_workspace(r) <= s->workspace_bytes)); /* NaN: unknown */
}

static bool is_random(const struct algorithm *a, const struct scenario *s)
{
	(void)s;
	return has_note(a, "nondeterministic");
}

static enum barred deterministic_bars(const struct scenario *s, const struct result *r)
{
	return barred_if(s->deterministic && ran_any(r, is_random, s));
}

static bool is_left_out(const struct algorithm *a, const struct scenario *s)
{
	return !library_is_named(s->libraries, a->api);
}

static enum barred libraries_bars(const struct scenario *s, const struct result *r)
{
	return barred_if(s->libraries[0] && ran_any(r, is_left_out, s));
}

static bool libraries_differ(const struct result *first, const struct result *r)
{
	return strcmp(first->algorithm.api, r->algorithm.api) != 0;
}

static bool caches_differ(const struct result *first, const struct result *r)
{
	return first->cache != r->cache;
}

static bool pages_differ(const struct result *first, const struct result *r)
{
	(void)first;
	return cache_is_huge(r->cache);
}

/* ---- the table */

static const struct what_if table[] = {
	{ "parallel", 'p', "parallel",
		"independent layers run in parallel: limited by memory, caches and units (resources), "
		"without limit (path), or as measured branches side by side (measured)",
		STAGE_TOTAL, { "off", "resources", "path", "measured" }, parallel_get, parallel_set,
		.show = SHOW_ALWAYS },
	{ "fusion", 'f', "fusion",
		"fuse following layers into the kernel where the fused kernel is faster: bias and activation "
		"(epilogue), also batch norm and sums (fold), also attention and activations in parts "
		"(pattern), or also pointwise chains (all)",
		STAGE_RESULTS, { "off", "all", "epilogue", "fold", "pattern" }, fusion_get, fusion_set,
		.absent = "no layers of the model can be fused" },
	{ "matrix", 'm', "matrix",
		"allow algorithms on matrix units (AMX, tensor cores), at the data types of the scenario",
		STAGE_RESULTS, { "off", "on" }, matrix_get, matrix_set,
		.absent = "no problem here can run on matrix units", .bars = matrix_bars, .estimates = true,
		.barred = "only measured with algorithms that use matrix units, or may use them" },
	{ "algorithm", 'a', "best algo",
		"each layer runs the fastest measured algorithm (best), the library's first choice "
		"(preferred), or the named one if the layer has it, else the fastest (wildcards: jit*)",
		STAGE_RESULTS, { "preferred", "best" }, algorithm_get, algorithm_set,
		.value = "NAME", .example = "jit*", .take = algorithm_take, .say = algorithm_say,
		.absent = "estimates have no algorithms" },
	{ "launch", 'l', "launch",
		"executions back to back, launch cost divided by their number (amortized), or single "
		"executions (isolated)",
		STAGE_RESULTS, { "isolated", "amortized" }, amortized_get, amortized_set,
		.absent = "estimates by the peaks alone have no launches" },
	{ "math", 'r', "math",
		"allow algorithms that round operands to lower precision (relaxed: TF32, half precision "
		"inside f32; on matrix units they need matrix too), or only others (strict)",
		STAGE_RESULTS, { "strict", "relaxed" }, relaxed_get, relaxed_set, SHOW_KNOWN,
		.absent = "no measured algorithm rounds to lower precision", .bars = math_bars,
		.barred = "only measured with algorithms of relaxed math", .estimates = true },
	{ "layout", 'o', "layout",
		"channels last in the whole model (nhwc), with conversions at its borders; or a layout per "
		"layer, for the cheapest total with conversions (priced); off: the library's choice or ONNX "
		"order (nchw)",
		STAGE_PLAN, { "nchw", "nhwc", "priced" }, layouts_get, layouts_set, SHOW_KNOWN,
		.absent = "no layer has a channels-last form" },
	{ "workspace", 'w', "workspace",
		"only algorithms that need at most this much memory besides their operands (64M, 1G), none "
		"with an unknown need",
		STAGE_RESULTS, { "unlimited", "0" }, workspace_get, workspace_set, SHOW_ON,
		.value = "BYTES", .example = "512M", .take = workspace_take, .say = workspace_say,
		.absent = "no measured algorithm needs a workspace", .bars = workspace_bars,
		.barred = "only measured with algorithms that need more workspace than allowed, or an "
			  "unknown amount" },
	{ "deterministic", 'K', "determ.",
		"only deterministic algorithms: none that its library notes as nondeterministic",
		STAGE_RESULTS, { "off", "on" }, deterministic_get, deterministic_set, SHOW_ON,
		.absent = "no measured algorithm is noted as nondeterministic", .bars = deterministic_bars,
		.barred = "only measured with nondeterministic algorithms" },
	{ "libraries", 'v', "libraries",
		"only algorithms of the named libraries, e.g. onednn+plain",
		STAGE_RESULTS, { "all" }, libraries_get, libraries_set, SHOW_ON,
		.value = "NAMES", .example = "onednn+plain", .take = libraries_take, .say = libraries_say,
		.absent = "all results are of one library", .differs = libraries_differ,
		.bars = libraries_bars,
		.barred = "only measured with algorithms of libraries that the scenario leaves out" },
	{ "cache", 'C', "cache",
		"cache contents before each layer: activations and weights (warm), activations only (net), "
		"nothing (cold); auto: weights at the model's reuse distance (bytes read between two uses)",
		STAGE_RESULTS, { "auto", "warm", "net", "cold" }, cache_get, cache_set, SHOW_ON,
		.absent = "results are of one cache state", .differs = caches_differ },
	{ "pages", 'P', "pages",
		"operands in pages of 2 MiB, which need fewer entries of the TLB (2m), or in the system's "
		"default pages (4k); GLIBC_TUNABLES=glibc.malloc.hugetlb=1 requests 2m",
		STAGE_RESULTS, { "4k", "2m" }, huge_pages_get, huge_pages_set, SHOW_ON,
		.absent = "nothing was measured in pages of 2 MiB (bench -w pages=2m)",
		.differs = pages_differ },
	{ "pad", 'i', "pad",
		"convolutions and matmuls run with channels padded to a multiple of 8 where that is faster; "
		"the cost excludes copies of activations",
		STAGE_RESULTS, { "off", "on" }, pad_get, pad_set, SHOW_ON,
		.detail = "multiples of 8", .absent = "all channels are multiples of 8" },
	{ "fold", 'F', "fold",
		"without the layers that graph optimizers remove: layers that return their input (adding "
		"0), undo the previous layer (two Transposes), repeat another layer, or have unread results",
		STAGE_PLAN, { "off", "on" }, fold_get, fold_set, SHOW_ON,
		.absent = "graph optimizers remove no layer that takes time" },
	{ "assume", 'W', "given",
		"layers have their assumed costs (--assume; = or :assume LAYER=COST in the explorer), as "
		"with custom kernels",
		STAGE_RESULTS, { "off", "given" }, assume_get, assume_set, SHOW_ON,
		.absent = "no cost is assumed" },
};
#define TABLE_COUNT ((int)(sizeof(table) / sizeof(table[0])))
_Static_assert(sizeof(table) / sizeof(table[0]) <= WHAT_IFS_MAX, "too many what-ifs for sets of bits");

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

bool scenario_equal(const struct scenario *x, const struct scenario *y)
{
	return memcmp(x, y, sizeof(*x)) == 0;
}

const struct what_if *what_if_table(int *count)
{
	*count = TABLE_COUNT;
	return table;
}

const struct what_if *what_if_named(struct text name)
{
	for (int i = 0; i < TABLE_COUNT; i++)
		if (text_is(name, table[i].name))
			return &table[i];
	return NULL;
}

static int shown(struct text t)
{
	return t.n > 40 ? 40 : (int)t.n;
}

void what_if_try(struct word_nearest *near)
{
	for (int i = 0; i < TABLE_COUNT; i++)
		word_try(near, table[i].name);
}

static int unknown_name(struct text name, struct error *err)
{
	char names[256] = "";
	for (int i = 0; i < TABLE_COUNT; i++) {
		strcat(names, i ? ", " : "");
		strcat(names, table[i].name);
	}
	char word[41];
	struct word_nearest near = { .word = word };
	snprintf(word, sizeof(word), "%.*s", shown(name), name.p);
	what_if_try(&near);
	if (near.best)
		return error_set(err, "unknown what-if '%s'; did you mean %s?", word, near.best);
	return error_set(err, "unknown what-if '%.*s'; use %s", shown(name), name.p, names);
}

char *what_if_word(const struct what_if *w, const struct scenario *s, char *buf, size_t size)
{
	int choice = w->get(s);
	if (choice < what_if_choices(w))
		snprintf(buf, size, "%s", w->choices[choice]);
	else
		w->say(s, buf, size);
	return buf;
}

char *what_if_tried(const struct what_if *w, const struct scenario *s, char *buf, size_t size)
{
	bool off = !w->get(s) && w->choices[1];
	const char *detail = w->detail ? w->detail : "";
	if (off && w->detail)
		snprintf(buf, size, "%s=%s (%s)", w->name, w->choices[1], detail);
	else if (off && (w->value || what_if_choices(w) > 2))
		snprintf(buf, size, "%s=%s", w->name, w->choices[1]);
	else
		snprintf(buf, size, "%s", detail);
	return buf;
}

char *what_if_why(const struct what_if *w, bool available, bool on, char *buf, size_t size)
{
	if (!available)
		snprintf(buf, size, "%s", w->absent);
	else if (!on && !w->choices[1])
		snprintf(buf, size, "give %s, e.g. %s=%s", w->value, w->name, w->example);
	else
		buf[0] = '\0';
	return buf;
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
	return text_is(word, "on") && row->choices[1] ? 1 : text_is(word, "off") ? 0 : -1;
}

static int unknown_choice(const struct what_if *row, struct text word, struct error *err)
{
	char words[128] = "";
	if (row->value)
		snprintf(words, sizeof(words), "%s (%s)%s", row->value, row->example,
			row->choices[1] ? ", " : " or ");
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
		name = text_trim((struct text){ item.p, (size_t)(equals - item.p) });
		word = text_trim((struct text){ equals + 1, item.n - (size_t)(equals - item.p) - 1 });
	}
	const struct what_if *row = what_if_named(name);
	if (!row)
		return unknown_name(name, err);
	int choice = choice_named(row, word);
	if (choice >= 0)
		row->set(s, choice);
	else if (!row->take || text_is(word, "on") || row->take(s, word))
		return unknown_choice(row, word, err);
	return 0;
}

int scenario_parse(struct scenario *s, const char *list, struct error *err)
{
	struct scenario parsed = *s;
	if (text_trim(text_of(list)).n == 0)
		return 0;
	for (const char *p = list; p;) {
		const char *comma = strchr(p, ',');
		struct text item = text_trim((struct text){ p, comma ? (size_t)(comma - p) : strlen(p) });
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
		char item[2 * SCENARIO_NAME_MAX], word[WHAT_IF_WORD_SIZE];
		int choice = table[i].get(s);
		bool bare = choice == 1 && what_if_choices(&table[i]) > 1; /* the choice that "on" means */
		what_if_word(&table[i], s, word, sizeof(word));
		snprintf(item, sizeof(item), "%s%s%s", table[i].name, bare ? "" : "=", bare ? "" : word);
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
