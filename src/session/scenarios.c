/* Named scenarios: in -w, beside what the session shows, and their totals. */
#include "config.h"

#include "session/scenarios.h"

#include "session/session_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names in -w ---- */

/* True for a bare name that is neither a what-if nor a scenario. */
static bool is_unknown(const struct config *c, struct text item)
{
	return !memchr(item.p, '=', item.n) && !what_if_named(item) && !config_scenario(c, item);
}

static int unknown(const struct config *c, struct text name, struct error *err)
{
	struct str names = { 0 };
	int shown = name.n > 40 ? 40 : (int)name.n, rows;
	char word[41];
	struct word_nearest what = { .word = word };
	snprintf(word, sizeof(word), "%.*s", shown, name.p);
	what_if_try(&what);
	const char *near = what.best ? what.best : config_scenario_nearest(c, name);
	const struct what_if *table = what_if_table(&rows);
	for (int i = 0; i < rows; i++)
		str_addf(&names, "%s%s", i ? ", " : "", table[i].name);
	str_addf(&names, c->scenario_count ? "; scenarios: " : "; no scenarios are configured");
	for (int i = 0; i < c->scenario_count && i < 8; i++)
		str_addf(&names, "%s%s", i ? ", " : "", c->scenarios[i].name);
	str_addf(&names, c->scenario_count > 8 ? " ..." : "");
	if (near)
		error_set(err, "unknown what-if or scenario '%.*s'; did you mean %s?", shown, name.p, near);
	else
		error_set(err, "unknown what-if or scenario '%.*s'; what-ifs: %s", shown, name.p, names.p);
	str_free(&names);
	return -1;
}

/* What the scenarios of a list set, the last one where several do. */
struct merged {
	int64_t batch;
	bool has_dtype;
	enum dtype dtype;
	const char *device;
	int device_line; /* of its scenario */
	struct dim_binding *dims;
	int dim_count;
	struct str list; /* what-ifs */
	bool any;	 /* the list has an item, maybe an empty one */
};

static void list_add(struct merged *m, struct text items)
{
	str_addf(&m->list, m->any ? "," : "");
	str_add(&m->list, items.p, items.n);
	m->any = true;
}

static void merge(struct arena *a, struct merged *m, const struct config_scenario *one)
{
	struct dim_binding *dims = ARENA_ARRAY(a, struct dim_binding, m->dim_count + one->dim_count + 1);
	for (int i = 0; i < m->dim_count; i++)
		dims[i] = m->dims[i];
	for (int i = 0; i < one->dim_count; i++)
		dims[m->dim_count + i] = one->dims[i];
	m->dims = dims;
	m->dim_count += one->dim_count;
	m->batch = one->batch ? one->batch : m->batch;
	m->dtype = one->has_dtype ? one->dtype : m->dtype;
	m->has_dtype |= one->has_dtype;
	m->device_line = one->device ? one->line : m->device_line;
	m->device = one->device ? one->device : m->device;
	if (one->what_if)
		list_add(m, text_of(one->what_if));
}

static struct text name_of(struct text item)
{
	const char *equals = memchr(item.p, '=', item.n);
	size_t n = equals ? (size_t)(equals - item.p) : item.n;
	while (n && strchr(" \t", item.p[n - 1]))
		n--;
	return (struct text){ item.p, n };
}

/* True if the list up to `item` gives the what-if of this item before. */
static bool is_again(const char *list, struct text item)
{
	for (const char *p = list + strspn(list, " \t"); p < item.p; p += strspn(p, ", \t")) {
		size_t n = strcspn(p, ",");
		if (text_equal(name_of((struct text){ p, n }), name_of(item)))
			return true;
		p += n;
	}
	return false;
}

/* An item of c->what_if. */
static int item_add(struct config *c, struct merged *m, struct text item, struct error *err)
{
	const struct config_scenario *one = config_scenario(c, item);
	struct scenario checked = scenario_default();
	if (!item.n)
		return error_set(err, "'%.60s' has an empty item: remove the comma", c->what_if);
	if (is_unknown(c, item))
		return unknown(c, item, err);
	if (one && one->what_if && scenario_parse(&checked, one->what_if, err))
		return error_context(err, "scenario %s", one->name);
	if (one) {
		merge(&c->arena, m, one);
		return 0;
	}
	if (is_again(c->what_if, item))
		return error_set(err, "%.*s is given twice in '%.60s': leave one out", (int)name_of(item).n,
			item.p, c->what_if);
	if (scenario_parse(&checked, arena_strndup(&c->arena, item.p, item.n), err))
		return -1;
	list_add(m, item);
	return 0;
}

/* A what-if of the file; the error does not name its place. */
static int word_check(const struct config *c, const struct config_word *w, struct error *err)
{
	struct text item = text_trim(text_of(w->value));
	struct scenario checked = scenario_default();
	if (!item.n)
		return error_set(err, "an item is empty: remove the comma");
	for (const struct config_word *other = c->what_if_words; other < w; other++)
		if (other->name == w->name &&
			text_equal(name_of(text_trim(text_of(other->value))), name_of(item)))
			return error_set(err, "%.*s is given twice: leave one out", (int)name_of(item).n,
				item.p);
	if (w->name)
		return scenario_parse(&checked, w->value, err);
	if (is_unknown(c, item))
		return unknown(c, item, err);
	return config_scenario(c, item) ? 0 : scenario_parse(&checked, w->value, err);
}

int scenarios_check(const struct config *c, struct error *err)
{
	for (int i = 0; i < c->scenario_count; i++)
		if (c->scenarios[i].line && what_if_named(text_of(c->scenarios[i].name)))
			return error_set(err, "%s:%d: scenarios: %s is the name of a what-if; choose another",
				c->path, c->scenarios[i].line, c->scenarios[i].name);
	for (int i = 0; i < c->what_if_word_count; i++) {
		const struct config_word *w = &c->what_if_words[i];
		if (word_check(c, w, err))
			return error_context(err, "%s:%d: %s%s", c->path, w->line,
				w->name ? "scenarios: " : "what_if", w->name ? w->name : "");
	}
	return 0;
}

int scenarios_apply(
	struct config *c, unsigned given, struct dim_binding **dims, int *count, struct error *err)
{
	struct merged m = { 0 };
	int bad = 0;
	*count = 0;
	for (const char *p = c->what_if; p && !bad;) {
		size_t n = strcspn(p, ",");
		bad = item_add(c, &m, text_trim((struct text){ p, n }), err);
		p = p[n] ? p + n + 1 : NULL;
	}
	if (!bad && c->what_if)
		c->what_if = arena_strndup(&c->arena, m.list.n ? m.list.p : "", m.list.n);
	if (!bad && m.batch && !(given & SCENARIO_BATCH)) {
		c->batch_count = 1;
		c->batch[0] = m.batch;
	}
	if (!bad && m.has_dtype && !(given & SCENARIO_DTYPE)) {
		c->dtype_count = 1;
		c->dtype[0] = m.dtype;
	}
	if (!bad && m.device && !(given & SCENARIO_DEVICE))
		config_take_device(c, m.device, m.device_line);
	*dims = m.dims;
	*count = bad ? 0 : m.dim_count;
	str_free(&m.list);
	return bad;
}

/* ---- the present scenario ---- */

static const char *what_ifs_list(const struct scenario *s, bool matrix, struct arena *a)
{
	int count;
	const struct what_if *rows = what_if_table(&count);
	const char *list = "";
	char word[WHAT_IF_WORD_SIZE];
	for (int i = 0; i < count; i++)
		if (matrix || strcmp(rows[i].name, "matrix") != 0)
			list = arena_printf(a, "%s%s%s=%s", list, *list ? "," : "", rows[i].name,
				what_if_word(&rows[i], s, word, sizeof(word)));
	return list;
}

const char *scenarios_what_ifs(const struct scenario *s, struct arena *a)
{
	return what_ifs_list(s, true, a);
}

const char *session_what_ifs(const struct session *s, struct arena *a)
{
	return what_ifs_list(&s->scenario, s->matrix_given, a);
}

/* The name by which -d finds the present device. */
static const char *device_key(const struct session *s)
{
	return s->seat->described ? s->seat->described->id : s->seat->config->device;
}

struct config_scenario scenarios_present(const struct session *s, struct arena *a)
{
	struct config_scenario one = { .what_if = scenarios_what_ifs(&s->scenario, a),
		.device = device_key(s) };
	const struct plan *p = s->current ? s->current->plan : NULL;
	if (!p)
		return one;
	one.batch = p->batch;
	one.has_dtype = s->current->dtype != DTYPE_UNKNOWN;
	one.dtype = s->current->dtype;
	one.dims = ARENA_ARRAY(a, struct dim_binding, p->binding_count + 1);
	for (int i = 0; i < p->binding_count; i++)
		if (*session_dim_source(s, p->bindings[i].name)) /* else the batch sets it */
			one.dims[one.dim_count++] = (struct dim_binding){ .name = p->bindings[i].name,
				.value = p->bindings[i].value };
	return one;
}

int scenarios_what_ifs_of(
	const struct session *s, const struct config_scenario *one, struct scenario *out, struct error *err)
{
	*out = scenario_default();
	out->best = !s->seat->config->algorithms || strcmp(s->seat->config->algorithms, "preferred") != 0;
	out->assume = subject_assumes(s->subject);
	return one->what_if ? scenario_parse(out, one->what_if, err) : 0;
}

static bool has_dims(const struct session *s, const struct config_scenario *one)
{
	const struct plan *p = s->current->plan;
	for (int i = 0; i < one->dim_count; i++) {
		bool same = false;
		for (int k = 0; k < p->binding_count; k++)
			same |= text_equal(p->bindings[k].name, one->dims[i].name) &&
				p->bindings[k].value == one->dims[i].value;
		if (!same)
			return false;
	}
	return true;
}

static bool has_device(const struct session *s, const struct config_scenario *one)
{
	const char *key = device_key(s);
	return !one->device || (key && strcmp(key, one->device) == 0) ||
		(s->seat->device.runner && strcmp(s->seat->device.runner, one->device) == 0);
}

static bool has_what_ifs(const struct scenario *a, const struct scenario *b)
{
	int count;
	const struct what_if *rows = what_if_table(&count);
	for (int i = 0; i < count; i++) {
		char x[WHAT_IF_WORD_SIZE], y[WHAT_IF_WORD_SIZE];
		if (strcmp(what_if_word(&rows[i], a, x, sizeof(x)), what_if_word(&rows[i], b, y, sizeof(y))))
			return false;
	}
	return true;
}

bool scenarios_is_present(const struct session *s, const struct config_scenario *one)
{
	struct scenario with;
	struct error err;
	bool valid = !scenarios_what_ifs_of(s, one, &with, &err);
	if (!scenarios_say_matrix(one->what_if))
		with.matrix = s->scenario.matrix;
	return s->current && valid && has_what_ifs(&with, &s->scenario) &&
		(!one->batch || one->batch == s->current->plan->batch) &&
		(!one->has_dtype || one->dtype == s->current->dtype) && has_dims(s, one) &&
		has_device(s, one);
}

const char *scenarios_names_miss(const struct session *s, struct arena *a)
{
	const struct scenario *with = &s->scenario;
	if (!s->current || (!with->algorithm[0] && !with->libraries[0]))
		return NULL;
	struct algorithms_named n =
		algorithms_named(s->current->plan, session_fusion(s), s->seat->results, with);
	if (n.named || !n.measured)
		return NULL;
	return arena_printf(a, "%s%s%s%s%s fits no algorithm; %d %s measured",
		with->algorithm[0] ? "algorithm=" : "", with->algorithm,
		with->algorithm[0] && with->libraries[0] ? " of " : "",
		with->libraries[0] ? "libraries=" : "", with->libraries, n.measured,
		n.measured == 1 ? "is" : "are");
}

/* ---- totals ---- */

/* On a described device the first call asks its planner. */
static void planner_ask_all(const struct variant_ground *g)
{
	struct arena a = { 0 };
	int count;
	const char **texts = analyze_problems_in(&a, g->on.plan, g->on.fusion, true,
		scenario_variants(&g->scenario), &count);
	for (int i = 0; i < count; i++)
		planner_ask(g->seat->planner, texts[i]);
	arena_free(&a);
}

struct scenario_total scenarios_variant_total(struct session *s, const struct variant *v, struct arena *a)
{
	struct scenario_total t = { .point = SWEEP_POINT_UNKNOWN };
	struct variant_ground g;
	struct error err = ERROR_NONE;
	int bad = variant_open(s, v, &g, &err);
	if (bad) {
		t.why = bad == VARIANT_UNBOUND ? "dimensions have no value" : arena_printf(a, "%s", err.text);
	} else {
		struct arena scratch = { 0 };
		if (g.seat->planner)
			planner_ask_all(&g);
		const struct analysis *x = variant_analysis(&g, &scratch);
		t.point = sweep_point_of(&g.on, x);
		t.unmeasured = x->unmeasured_problems;
		t.without = x->coverage.missing + x->coverage.unsupported;
		arena_free(&scratch);
	}
	variant_close(&g);
	session_plans_trim(s);
	return t;
}

/* The variant of a scenario on the session's device, with its dimensions. */
static struct variant variant_of(
	const struct session *s, const struct config_scenario *one, const struct scenario *with)
{
	struct variant v = session_variant(s);
	if (one->batch && one->batch != s->current->plan->batch)
		v.batch = one->batch;
	if (one->has_dtype)
		v.dtype = one->dtype;
	bool says = scenarios_say_matrix(one->what_if);
	v.scenario = *with;
	v.scenario.matrix = says ? with->matrix : s->scenario.matrix;
	v.matrix_given |= says;
	return v;
}

struct scenario_total scenarios_total(struct session *s, const struct config_scenario *one, struct arena *a)
{
	struct scenario_total t = { .point = SWEEP_POINT_UNKNOWN };
	struct scenario with;
	struct error err = ERROR_NONE;
	t.elsewhere = s->current && (!has_device(s, one) || !has_dims(s, one));
	if (!s->current || scenarios_what_ifs_of(s, one, &with, &err))
		t.why = arena_printf(a, "%s", s->current ? err.text : "the model has no plan");
	else if (!has_device(s, one))
		t.why = arena_printf(a, "on %s", one->device);
	else if (t.elsewhere)
		t.why = "other dimensions";
	if (t.why)
		return t;
	const struct variant v = variant_of(s, one, &with);
	return scenarios_variant_total(s, &v, a);
}

int scenarios_take(struct session *s, const struct config_scenario *one, struct error *err)
{
	struct scenario with;
	if (scenarios_what_ifs_of(s, one, &with, err))
		return -1;
	if (s->current && !has_dims(s, one) && session_bind(s, one->dims, one->dim_count, err))
		return -1;
	if (s->current) {
		const struct variant v = variant_of(s, one, &with);
		if (session_select(s, v.batch, v.dtype, err))
			return -1;
	}
	session_use(s, &with);
	s->matrix_given = scenarios_say_matrix(one->what_if);
	return 0;
}
