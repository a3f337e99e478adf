/* The table of keys of a search, and the parser of terms. */
#include "config.h"

#include "ui/model/real.h"
#include "ui/model/terms.h"

#include "ops/op.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A unit of numbers and its factor; the last row is zeros. */
struct unit {
	const char *name;
	double factor;
};
static const struct unit durations[] = { { "ns", 1 }, { "us", 1e3 }, { "\u00b5s", 1e3 }, { "ms", 1e6 },
	{ "s", 1e9 }, { 0 } };
static const struct unit fractions[] = { { "%", 0.01 }, { 0 } };
static const struct unit counts[] = { { "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { "T", 1e12 },
	{ 0 } };
static const struct unit sizes[] = { { "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 },
	{ "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { 0 } };

/* A key has a function of its own (holds), or texts (text), words of which one must be named (word), or a
 * number (number, unit). */
struct term_key {
	const char *name;
	struct text (*text)(struct app *app, const struct subject *of); /* p NULL: unknown */
	const char *(*word)(int i);    /* the words, NULL beyond the last, "" for none of them */
	bool (*has)(struct app *app, const struct subject *of, int word);
	bool (*holds)(struct app *app, const struct subject *of, const struct term *t);
	double (*number)(struct app *app, const struct subject *of);
	const struct unit *units;
	const char *example, *help;
};

struct subject subject_of_layer(const struct app *app, int layer)
{
	return (struct subject){ .layer = layer, .problem = app_problem(app, layer),
		.ns = app_cost_all(app, layer), .uses = 1 };
}

/* ---- facts */

static const struct layer_cost *cost_of(const struct app *app, const struct subject *of)
{
	const struct layer_cost *c = app_cost(app, of->layer);
	const char *own = of->is_problem && c ? app_problem(app, of->layer) : of->problem;
	return c && (own == of->problem || (own && of->problem && strcmp(own, of->problem) == 0)) ? c : NULL;
}

static struct text fact_name(struct app *app, const struct subject *of)
{
	return app_layer(app, of->layer) ? app_layer(app, of->layer)->name : (struct text){ 0 };
}

/* True if the layer is inside a scope of that name: parts of its name, not the last one; with = the first
 * ones. */
static bool scope_holds(struct app *app, const struct subject *of, const struct term *t)
{
	struct text name = fact_name(app, of), scope = t->value;
	size_t start = name.n && name.p[0] == '/';
	for (size_t i = start; name.p && i + scope.n < name.n; i++) {
		bool begins = i == start || (t->compare == ':' && strchr("/.", name.p[i - 1]));
		if (begins && strchr("/.", name.p[i + scope.n]) &&
			strncasecmp(name.p + i, scope.p, scope.n) == 0)
			return true;
	}
	return false;
}

static struct text fact_op(struct app *app, const struct subject *of)
{
	return app_layer(app, of->layer) ? app_layer(app, of->layer)->node->op : (struct text){ 0 };
}

static struct text fact_problem(struct app *app, const struct subject *of)
{
	(void)app;
	return of->problem ? text_of(of->problem) : (struct text){ 0 };
}

static struct text fact_algorithm(struct app *app, const struct subject *of)
{
	const struct layer_cost *c = cost_of(app, of);
	const struct result *r = c && c->result ? c->result
		: of->is_problem                ? app_pick(app, of->problem)
						: NULL;
	return r ? text_of(arena_printf(&app->scratch, "%s %s", r->algorithm.api, r->algorithm.name))
		 : (struct text){ 0 };
}

static const char *class_word(int i)
{
	return i <= CLASS_HOST ? op_class_name((enum op_class)i) : NULL;
}

static bool class_has(struct app *app, const struct subject *of, int word)
{
	const struct plan_layer *l = app_layer(app, of->layer);
	return l && l->class == (enum op_class)word;
}

/* The states' words and, behind them, their stored and earlier names. */
static const char *state_word(int i)
{
	const struct state_row *row = i < 3 * STATE_COUNT ? state_row((enum state)(i % STATE_COUNT)) : NULL;
	return !row ? NULL : i < STATE_COUNT ? row->word : i < 2 * STATE_COUNT ? row->stored : row->earlier;
}

static enum state state_now(struct app *app, const struct subject *of)
{
	int position;
	return of->is_problem ? session_problem_state(app->session, of->problem, &position)
			      : app_state_of(app, of->layer);
}

static bool state_has(struct app *app, const struct subject *of, int word)
{
	return state_now(app, of) == (enum state)(word % STATE_COUNT);
}

static const char *bound_word(int i)
{
	return i >= LIMIT_COUNT ? NULL : i == LIMIT_UNKNOWN ? "unknown" : limit_name((enum limit_by)i);
}

static struct limit limit_now(struct app *app, const struct subject *of)
{
	const struct layer_cost *c = session_analysis(app->session) ? cost_of(app, of) : NULL;
	return c ? session_limit(app->session, c, of->problem)
		 : (struct limit){ .by = LIMIT_UNKNOWN, .share = NAN };
}

static bool bound_has(struct app *app, const struct subject *of, int word)
{
	return limit_now(app, of).by == (enum limit_by)word;
}

static double number_cost(struct app *app, const struct subject *of)
{
	(void)app;
	return of->ns;
}

static double number_share(struct app *app, const struct subject *of)
{
	const struct analysis *a = session_analysis(app->session);
	return a && a->sequential_ns > 0 ? of->ns * of->uses / a->sequential_ns : NAN;
}

static double number_peak(struct app *app, const struct subject *of)
{
	struct limit l = limit_now(app, of);
	return l.by == LIMIT_COMPUTE || l.by == LIMIT_MEMORY ? l.share : NAN;
}

static double number_flops(struct app *app, const struct subject *of)
{
	const struct plan_layer *l = app_layer(app, of->layer);
	return l ? l->flops : NAN;
}

static double number_bytes(struct app *app, const struct subject *of)
{
	const struct plan_layer *l = app_layer(app, of->layer);
	return l ? l->bytes : NAN;
}

static double number_real(struct app *app, const struct subject *of)
{
	return of->layer >= 0 ? app_real_ns(app, of->layer) : NAN;
}

/* ---- kinds: the words of is: */

static bool is_critical(struct app *app, const struct subject *of)
{
	return app_is_critical(app, cost_of(app, of));
}

static bool is_unmeasured(struct app *app, const struct subject *of)
{
	const struct layer_cost *c = app_cost(app, of->layer);
	if (of->is_problem)
		return isnan(of->ns);
	return c ? c->origin == ORIGIN_MISSING || isnan(c->ns) || c->origin == ORIGIN_UNSUPPORTED : true;
}

static bool is_noisy(struct app *app, const struct subject *of)
{
	enum state s = state_now(app, of);
	return s == STATE_NOISY || s == STATE_SUSPECT;
}

static bool is_same(struct app *app, const struct subject *of)
{
	const char *selected = app->layer >= 0 ? app_problem(app, app->layer) : NULL;
	return selected && of->problem && strcmp(selected, of->problem) == 0;
}

static bool is_contradicted(struct app *app, const struct subject *of)
{
	return of->layer >= 0 && app_is_contradicted(app, of->layer);
}

static bool is_marked(struct app *app, const struct subject *of)
{
	return of->layer >= 0 && app->picked[of->layer];
}

static const struct {
	const char *word, *text;
	bool (*holds)(struct app *app, const struct subject *of);
} kinds[KIND_COUNT] = {
	[KIND_CRITICAL] = { "critical", "critical layer", is_critical },
	[KIND_UNMEASURED] = { "unmeasured", "unmeasured layer", is_unmeasured },
	[KIND_NOISY] = { "noisy", "noisy or suspect layer", is_noisy },
	[KIND_SAME] = { "same", "layer with the same problem", is_same },
	[KIND_CONTRADICTED] = { "contradicted", "contradicted layer", is_contradicted },
	[KIND_MARKED] = { "marked", "marked layer", is_marked },
};

const char *term_kind_text(int kind)
{
	return kinds[kind].text;
}

bool term_kind_holds(struct app *app, int kind, const struct subject *of)
{
	return kinds[kind].holds(app, of);
}

static const char *kind_word(int i)
{
	return i < KIND_COUNT ? kinds[i].word : NULL;
}

static bool kind_has(struct app *app, const struct subject *of, int word)
{
	return kinds[word].holds(app, of);
}

static const struct term_key keys[] = {
	{ "state", .word = state_word, .has = state_has, .example = "state:noisy", .help = "its state" },
	{ "is", .word = kind_word, .has = kind_has, .example = "is:critical",
		.help = "critical, unmeasured, noisy (or suspect), same (problem as the selected layer), "
			"contradicted or marked (V)" },
	{ "cost", .number = number_cost, .units = durations, .example = "cost>1ms cost<50us",
		.help = "its cost in the model; an unknown cost never matches" },
	{ "share", .number = number_share, .units = fractions, .example = "share>1%",
		.help = "its share of the sequential total" },
	{ "bound", .word = bound_word, .has = bound_has, .example = "bound:memory",
		.help = "compute, memory, overhead or unknown: what limits it" },
	{ "peak", .number = number_peak, .units = fractions, .example = "peak<30%",
		.help = "its share of the limiting peak" },
	{ "op", .text = fact_op, .example = "op=Conv", .help = "operator; op:conv: it contains \"conv\"" },
	{ "name", .text = fact_name, .example = "name:layer1", .help = "name of the layer" },
	{ "scope", .holds = scope_holds, .example = "scope:layer1",
		.help = "inside a scope of that name; scope=bert/encoder: the first parts of its name" },
	{ "class", .word = class_word, .has = class_has, .example = "class:compute",
		.help = "compute, memory, move, free or host" },
	{ "algo", .text = fact_algorithm, .example = "algo:jit", .help = "library and algorithm used" },
	{ "problem", .text = fact_problem, .example = "problem:bf16", .help = "text of the problem" },
	{ "flops", .number = number_flops, .units = counts, .example = "flops>1G",
		.help = "FLOPs of one run" },
	{ "bytes", .number = number_bytes, .units = sizes, .example = "bytes>1MiB",
		.help = "compulsory bytes of one run" },
	{ "real", .number = number_real, .units = durations, .example = "real>1ms",
		.help = "its time in a real run" },
};
#define KEY_COUNT ((int)(sizeof(keys) / sizeof(*keys)))

/* ---- parsing */

static bool begins(struct text t, const char *word)
{
	return t.n && strncasecmp(word, t.p, t.n) == 0;
}

/* A decimal number and a unit. False: it is not one. */
static bool number_read(struct text t, const struct unit *units, double *out)
{
	size_t i = 0, digits = 0;
	double value = 0, place = 1;
	for (bool point = false; i < t.n && (t.p[i] == '.' || (t.p[i] >= '0' && t.p[i] <= '9')); i++) {
		if (t.p[i] == '.' && point)
			return false;
		if (t.p[i] == '.') {
			point = true;
			continue;
		}
		digits++;
		place = point ? place / 10 : 1;
		value = point ? value + place * (t.p[i] - '0') : 10 * value + (t.p[i] - '0');
	}
	struct text unit = { t.p + i, t.n - i };
	if (!digits)
		return false;
	for (; units->name; units++)
		if (unit.n == strlen(units->name) && strncasecmp(unit.p, units->name, unit.n) == 0) {
			*out = value * units->factor;
			return true;
		}
	*out = 0;
	return unit.n == 0 && value == 0;
}

/* True if the value names one of the key's words, or (':') begins one. */
static bool word_is(const struct term *t, int i)
{
	const char *word = t->key->word(i);
	return *word && begins(t->value, word) && (t->compare == ':' || strlen(word) == t->value.n);
}

static int bad_word(const struct term *t, struct error *err)
{
	struct str list = { 0 };
	for (int i = 0; t->key->word(i) && i < STATE_COUNT; i++)
		if (*t->key->word(i))
			str_addf(&list, "%s%s", list.n ? ", " : "", t->key->word(i));
	error_set(err, "unknown term %s:%.*s; use %s", t->key->name, (int)t->value.n, t->value.p, list.p);
	str_free(&list);
	return -1;
}

/* The value of a term with a key. */
static int value_read(struct term *t, struct error *err)
{
	const struct term_key *k = t->key;
	bool orders = t->compare != ':' && t->compare != '=';
	size_t example = strcspn(k->example, " ");
	if (k->number ? !orders : orders)
		return error_set(err, "%s takes %s: %.*s", k->name, k->number ? "<, <=, > or >=" : ": or =",
			(int)example, k->example);
	if (!t->value.n)
		return error_set(err, "%s needs a value: %.*s", k->name, (int)example, k->example);
	if (k->number && !number_read(t->value, k->units, &t->number))
		return error_set(err, "\"%.*s\" is not a number with a unit: "
			"%.*s", (int)t->value.n, t->value.p,
			(int)example, k->example);
	for (int i = 0; k->word; i++) {
		if (!k->word(i))
			return bad_word(t, err);
		if (word_is(t, i))
			break;
	}
	return 0;
}

static const struct term_key *key_of(struct text name, const struct term_key **near)
{
	for (int i = 0; i < KEY_COUNT; i++) {
		if (text_is(name, keys[i].name))
			return &keys[i];
		if (begins(name, keys[i].name) || (name.n > strlen(keys[i].name) &&
				memcmp(name.p, keys[i].name, strlen(keys[i].name)) == 0))
			*near = &keys[i];
	}
	return NULL;
}

/* True if a word with `:` or `=` after its first letters is text: the beginning of a problem, or of a name
 * such as "onnx::Conv" and "input:0". */
static bool is_text(struct text name, char after)
{
	for (int k = 0; k < KERNEL_COUNT; k++)
		if (text_is(name, kernel_name((enum kernel)k)))
			return true;
	return after == ':' || (after >= '0' && after <= '9') || !after || after == ' ';
}

/* A word is a term if it begins with a key. */
static int term_read(struct term *t, struct error *err)
{
	struct text w = t->value, name = { w.p, 0 };
	const struct term_key *near = NULL;
	while (name.n < w.n && name.p[name.n] >= 'a' && name.p[name.n] <= 'z')
		name.n++;
	if (!name.n || name.n == w.n || !strchr(":=<>", w.p[name.n]) || !w.p[name.n])
		return 0;
	char compare = w.p[name.n];
	bool also = (compare == '<' || compare == '>') && name.n + 1 < w.n && w.p[name.n + 1] == '=';
	t->key = key_of(name, &near);
	if (!t->key && near)
		return error_set(err, "no term \"%.*s\"; did you mean %s, as in %s?", (int)name.n, name.p,
			near->name, near->example);
	if (!t->key && (compare == '<' || compare == '>'))
		return error_set(err,
			"no term \"%.*s\": cost, share, peak, flops, bytes and real have an order",
			(int)name.n, name.p);
	if (!t->key && !is_text(name, name.n + 1 < w.n ? w.p[name.n + 1] : '\0'))
		return error_set(err, "no term \"%.*s\"; \"%.*s\" in quotes is text, help lists the terms",
			(int)name.n, name.p, (int)(w.n < 40 ? w.n : 40), w.p);
	if (!t->key)
		return 0;
	t->compare = !also ? compare : compare == '<' ? 'l' : 'g';
	t->value = (struct text){ w.p + name.n + 1 + also, w.n - name.n - 1 - also };
	return value_read(t, err);
}

int terms_parse(struct terms *out, const char *text, bool only_words, struct error *err)
{
	const char *start = text;
	*out = (struct terms){ 0 };
	while (*(text += strspn(text, " ")) && out->count < TERMS_MAX) {
		out->end = (size_t)(text - start);
		struct term t = { .negated = text[0] == '!' && text[1] && text[1] != ' ' };
		text += t.negated;
		bool quoted = *text == '"' && text[1];
		text += quoted;
		t.value = (struct text){ text, strcspn(text, quoted ? "\"" : " ") };
		text += t.value.n + (quoted && text[t.value.n]);
		if (!quoted && !only_words && term_read(&t, err))
			return -1;
		if (t.value.n)
			out->term[out->count++] = t;
		out->end = (size_t)(text - start);
	}
	return 0;
}

/* ---- matching */

/* 1 true, 0 false, -1 unknown. */
static int number_holds(double value, const struct term *t)
{
	if (isnan(value))
		return -1;
	switch (t->compare) {
	case '<': return value < t->number;
	case '>': return value > t->number;
	case 'l': return value <= t->number;
	default: return value >= t->number;
	}
}

static int text_holds(struct text value, const struct term *t)
{
	if (!value.p)
		return -1;
	return t->compare == ':' ? text_contains(value, t->value)
				 : value.n == t->value.n && begins(t->value, value.p);
}

static int word_holds(struct app *app, const struct term *t, const struct subject *of)
{
	for (int i = 0; t->key->word(i); i++)
		if (word_is(t, i) && t->key->has(app, of, i))
			return 1;
	return 0;
}

bool term_holds(struct app *app, const struct term *t, const struct subject *of)
{
	const struct term_key *k = t->key;
	int holds = k->holds ? k->holds(app, of, t)
		: k->number ? number_holds(k->number(app, of), t)
		: k->text     ? text_holds(k->text(app, of), t)
			      : word_holds(app, t, of);
	return t->negated ? holds == 0 : holds == 1;
}

/* ---- help */

static const char *const plain[][2] = {
	{ "relu", "the row's text contains \"relu\"" },
	{ "layer1 relu", "several words or terms: all must match" },
	{ "!relu !op=Conv", "negated: must not match" },
	{ "\"a b\"", "words in quotes are one word" },
};
#define PLAIN_COUNT ((int)(sizeof(plain) / sizeof(*plain)))

const char *term_help(int line, const char **text)
{
	if (line >= PLAIN_COUNT + KEY_COUNT)
		return NULL;
	*text = line < PLAIN_COUNT ? plain[line][1] : keys[line - PLAIN_COUNT].help;
	return line < PLAIN_COUNT ? plain[line][0] : keys[line - PLAIN_COUNT].example;
}

void terms_print_man(struct str *out)
{
	const char *text, *term;
	str_addf(out, ".SS Search and filter\nThe text of a search (\\fB/\\fR) or filter (\\fB&\\fR) "
		"has words and terms:\n");
	for (int i = 0; (term = term_help(i, &text)); i++)
		str_addf(out, ".TP\n\\fB%s\\fR\n%s\n", term, text);
}
