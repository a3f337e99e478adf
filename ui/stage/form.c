/* The form of batch, data type and dimensions. All are applied together, because dimensions that depend on
 * each other can only be checked together. Keys that no field takes do what they do elsewhere: j and k move,
 * q leaves. */
#include "config.h"

#include "ui/stage/stage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM_BATCH_MAX 65536 /* as of --batch */

static void field_add(struct prompt *q, enum form_kind kind, struct text name, const char *shown,
	const char *text, const char *source)
{
	struct form_field *f = &q->fields[q->field_count++];
	char *copy = base_malloc(name.n + 1);
	if (name.n)
		memcpy(copy, name.p, name.n);
	copy[name.n] = '\0';
	*f = (struct form_field){ .kind = kind, .name = { copy, name.n }, .shown = base_strdup(shown),
		.source = source };
	snprintf(f->text, sizeof(f->text), "%s", text);
	snprintf(f->before, sizeof(f->before), "%s", text);
}

/* ---- dimensions that are the sum of others */

static const char sum_source[] = "sum of others";

bool form_is_sum(const struct form_field *f)
{
	return f->source == sum_source;
}

static bool field_value(const struct form_field *f, bool before, int64_t *value)
{
	return text_to_int64(text_of(before ? f->before : f->text), value);
}

/* Adds the value of a term: a number, or a field by its name, after a prefix. */
static bool term_add(
	const struct prompt *q, const char *prefix, struct text term, bool before, int64_t *sum, int sign)
{
	int64_t value;
	size_t n = strlen(prefix);
	bool known = !n && text_to_int64(term, &value);
	for (int i = 0; i < q->field_count && !known; i++) {
		struct text name = q->fields[i].name;
		known = name.n == n + term.n && memcmp(name.p, prefix, n) == 0 &&
			memcmp(name.p + n, term.p, term.n) == 0 && field_value(&q->fields[i], before, &value);
	}
	*sum += known ? sign * value : 0;
	return known;
}

/* What follows a prefix; no text: the name does not begin so. */
static struct text after(struct text name, const char *prefix)
{
	size_t n = strlen(prefix);
	return name.n > n && memcmp(name.p, prefix, n) == 0 ? (struct text){ name.p + n, name.n - n } :
		(struct text){ "", 0 };
}

/* True for "past_x", but not for "past_x + x". */
static bool is_past(struct text name)
{
	return after(name, "past_").n && !memchr(name.p, '+', name.n);
}

/* The value of "past + 1", "past_x + x"; of "total_x", which is past_x + x, and so of "past_x". False: it is
 * none of these, or a term has no value. */
static bool sum_of(const struct prompt *q, struct text name, bool before, int64_t *sum)
{
	struct text of_total = after(name, "total_"), of_past = after(name, "past_");
	int terms = 0;
	*sum = 0;
	if (of_total.n)
		return term_add(q, "", of_total, before, sum, 1) &&
			term_add(q, "past_", of_total, before, sum, 1);
	if (is_past(name))
		return term_add(q, "total_", of_past, before, sum, 1) &&
			term_add(q, "", of_past, before, sum, -1) && *sum >= 0;
	for (const char *p = name.p, *end = name.p + name.n, *next; p <= end; p = next + 1, terms++) {
		next = memchr(p, '+', (size_t)(end - p));
		next = next ? next : end;
		const char *from = p, *to = next;
		while (from < to && *from == ' ')
			from++;
		while (to > from && to[-1] == ' ')
			to--;
		if (!term_add(q, "", (struct text){ from, (size_t)(to - from) }, before, sum, 1))
			return false;
	}
	return terms > 1;
}

/* Gives those that are sums, or have no value, their sum; not those that the user typed. */
static void sums_follow(struct prompt *q)
{
	for (int i = 0; i < q->field_count; i++) {
		struct form_field *f = &q->fields[i];
		int64_t was, sum, value;
		bool holds = !f->before[0] || (!is_past(f->name) && sum_of(q, f->name, true, &was) &&
			field_value(f, true, &value) && was == value);
		bool follows = f->kind == FORM_DIM && !f->locked && !f->own && holds;
		if (!follows || !sum_of(q, f->name, false, &sum) || sum > INT32_MAX)
			continue;
		snprintf(f->text, sizeof(f->text), "%lld", (long long)sum);
		f->source = strcmp(f->text, f->before) != 0 ? sum_source : f->source;
	}
}

/* Shows the text of a field; the first key replaces an existing value. */
static void field_show(struct prompt *q, int index)
{
	q->field = index;
	snprintf(q->text, sizeof(q->text), "%s", q->fields[index].text);
	q->untouched = q->text[0] != '\0';
}

/* The batch as a field of its own stands for the bindings that it overrides. */
static bool is_batch(const struct plan *p, int binding)
{
	return p->binding_sources[binding] == PLAN_DIM_BATCH || text_is(p->bindings[binding].name, "batch") ||
		(p->binding_sources[binding] == PLAN_DIM_ASSUMED && p->batch > 0);
}

static void add_batch(struct app *app)
{
	const struct plan *p = app_plan(app);
	int64_t batch = session_batch(app->session);
	batch = batch > 0 ? batch : p->batch;
	const char *source = batch ? "default" : "no value";
	char value[FORM_TEXT_SIZE] = "";
	for (int i = 0; i < p->binding_count; i++)
		if (is_batch(p, i)) {
			batch = batch ? batch : p->bindings[i].value;
			source = session_binding_origin(app->session, i);
		}
	if (batch)
		snprintf(value, sizeof(value), "%lld", (long long)batch);
	field_add(&app->stage->prompt, FORM_BATCH, TEXT("batch"), "batch", value,
		p->shape_batch ? "--input" : source);
	app->stage->prompt.fields[0].locked = p->shape_batch > 0;
}

void form_open(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	const struct session *s = app->session;
	const struct plan *p = app_plan(app);
	if (!p)
		return;
	prompt_open(app, &prompt_form);
	q->fields = base_calloc((size_t)(p->unbound_count + p->binding_count + 2), sizeof(*q->fields));
	add_batch(app);
	field_add(q, FORM_DTYPE, TEXT("type"), "data type", session_type_name(s, session_dtype(s)), "");
	for (int i = 0; i < p->unbound_count; i++)
		field_add(q, FORM_DIM, p->unbound[i], app_clean(app, p->unbound[i]), "", "no value");
	for (int i = 0; i < p->binding_count; i++) {
		if (is_batch(p, i))
			continue;
		char value[FORM_TEXT_SIZE];
		bool locked = p->binding_sources[i] == PLAN_DIM_SHAPE;
		snprintf(value, sizeof(value), "%lld", (long long)p->bindings[i].value);
		field_add(q, FORM_DIM, p->bindings[i].name, app_clean(app, p->bindings[i].name), value,
			locked ? "--input" : session_binding_origin(s, i));
		q->fields[q->field_count - 1].locked = locked;
	}
	sums_follow(q);
	field_show(q, q->field_count > 2 ? 2 : 0);
}

static void form_free(struct prompt *q)
{
	for (int i = 0; i < q->field_count; i++) {
		free((char *)q->fields[i].name.p);
		free(q->fields[i].shown);
	}
	free(q->fields);
}

bool form_changed(const struct form_field *f)
{
	return f->text[0] && strcmp(f->text, f->before) != 0;
}

const char *form_range(const struct form_field *f)
{
	return f->locked			? "fixed"
		: f->kind == FORM_BATCH		? "1-65536"
		: f->kind == FORM_DTYPE		? "f32 bf16 f16 ..."
						: "0-2147483647";
}

static bool text_is_valid(const struct form_field *f, const char *text)
{
	int64_t value;
	if (f->kind == FORM_DTYPE)
		return dtype_is_asked(dtype_parse_usual(text_of(text)));
	return strlen(text) < FORM_TEXT_SIZE && text_to_int64(text_of(text), &value) &&
		value >= (f->kind == FORM_BATCH ? 1 : 0) &&
		value <= (f->kind == FORM_BATCH ? FORM_BATCH_MAX : INT32_MAX);
}

/* Stores the typed text in its field; an empty one keeps the value. Returns whether it is valid. */
static bool field_keep(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	struct form_field *f = &q->fields[q->field];
	if (q->untouched || strcmp(q->text, f->text) == 0)
		return true;
	const char *text = q->text[0] ? q->text : f->before;
	if (text[0] && !text_is_valid(f, text)) {
		struct error err = ERROR_NONE;
		enum dtype type;
		const char *word = app_clean(app, text_of(text));
		if (f->kind == FORM_DTYPE && dtype_take_asked(text_of(word), &type, &err))
			app_note(app, true, "%s", err.text);
		else
			app_note(app, true, "%s must be %s", f->shown, form_range(f));
		return false;
	}
	snprintf(f->text, sizeof(f->text), "%.*s", FORM_TEXT_SIZE - 1, text);
	f->own = true;
	sums_follow(q);
	return true;
}

/* ---- the field that an error is about */

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* True if the text begins with the words, and no word goes on behind them. */
static bool begins(const char *text, const char *words)
{
	size_t n = strlen(words);
	return strncmp(text, words, n) == 0 && !(n && is_letter(words[n - 1]) && is_letter(text[n]));
}

enum { CLAIM_NONE, CLAIM_NAME, CLAIM_VALUE, CLAIM_SUM };

/* How clearly the text is about a field, and blanks its name there: names that are part of it are not meant.
 * Names are cut as in errors of plans (bound_context). */
static int claim_of(char *text, const struct prompt *q, const struct form_field *f)
{
	int claim = CLAIM_NONE;
	int64_t sum, value;
	char name[48];
	snprintf(name, sizeof(name), "%.40s%s", f->shown, strlen(f->shown) > 40 ? "..." : "");
	for (char *at = text; name[0] && *at; at++) {
		const char *end = at + strlen(name);
		if ((at > text && is_letter(at[-1]) && is_letter(*at)) || !begins(at, name))
			continue;
		bool valued = (*end == '=' || *end == ' ') && f->text[0] && begins(end + 1, f->text);
		claim = valued ? CLAIM_VALUE : claim ? claim : CLAIM_NAME;
		memset(at, ' ', strlen(name));
	}
	bool wrong = claim == CLAIM_VALUE && f->kind == FORM_DIM && !is_past(f->name) &&
		sum_of(q, f->name, false, &sum) && field_value(f, false, &value) && value != sum;
	return wrong ? CLAIM_SUM : claim;
}

/* The changed field that an error is about, longer names first; -1: it names none. */
static int field_of(const struct prompt *q, const struct error *err)
{
	struct error said = *err;
	size_t n = 0;
	int best = CLAIM_NONE, named = -1;
	for (int i = 0; i < q->field_count; i++)
		n = strlen(q->fields[i].shown) > n ? strlen(q->fields[i].shown) : n;
	for (; n > 0; n--)
		for (int i = 0; i < q->field_count; i++) {
			const struct form_field *f = &q->fields[i];
			int claim = strlen(f->shown) == n ? claim_of(said.text, q, f) : CLAIM_NONE;
			bool better = claim > best || (claim == best && claim && i < named);
			if (!form_changed(f) || !better)
				continue;
			best = claim;
			named = i;
		}
	return named;
}

/* Moves to the changed field that an error is about, else to the first changed one, which is then added. */
static void say_error(struct app *app, const struct error *err)
{
	struct prompt *q = &app->stage->prompt;
	int first = 0, named = field_of(q, err);
	while (first < q->field_count && !form_changed(&q->fields[first]))
		first++;
	if (named < 0 && first < q->field_count)
		app_note(app, true, "%s %s: %s", q->fields[first].shown, q->fields[first].text, err->text);
	else
		app_note(app, true, "%s", err->text);
	field_show(q, named >= 0 ? named : first < q->field_count ? first : q->field);
}

static void form_apply(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	struct error err = ERROR_NONE;
	struct session *s = app->session;
	int64_t batch = session_batch(s);
	enum dtype dtype = session_dtype(s);
	struct dim_binding *bound = base_calloc((size_t)q->field_count, sizeof(*bound));
	int count = 0, changed = 0;
	for (int i = 0; i < q->field_count; i++) {
		const struct form_field *f = &q->fields[i];
		if (!form_changed(f))
			continue;
		changed++;
		if (f->kind == FORM_DTYPE)
			dtype = dtype_parse_usual(text_of(f->text));
		else if (f->kind == FORM_BATCH)
			text_to_int64(text_of(f->text), &batch);
		else if (text_to_int64(text_of(f->text), &bound[count].value))
			bound[count++].name = f->name;
	}
	int bad = changed ? session_set(s, batch, dtype, bound, count, &err) : 0;
	free(bound);
	app_refresh(app);
	if (bad) {
		say_error(app, &err);
		return;
	}
	prompt_close(app);
	if (!changed)
		return;
	prompt_ask_unbound(app); /* those that were left empty */
	if (q->use)
		app_note(app, false, "%s has no value yet; Esc leaves the form", q->fields[q->field].shown);
}

static void field_step(struct app *app, int by)
{
	struct prompt *q = &app->stage->prompt;
	if (field_keep(app))
		field_show(q, (q->field + by + q->field_count) % q->field_count);
}

/* Left, Right, Space: the next of the usual data types. */
static void dtype_step(struct prompt *q, int by)
{
	static const enum dtype usual[] = { DTYPE_F32, DTYPE_BF16, DTYPE_F16 };
	int count = (int)(sizeof(usual) / sizeof(*usual)), at = 0;
	while (at < count && strcmp(q->text, dtype_name(usual[at])) != 0)
		at++;
	at = at == count ? 0 : (at + by + count) % count;
	snprintf(q->text, sizeof(q->text), "%s", dtype_name(usual[at]));
	q->untouched = false;
}

/* True if the field takes these characters. A number out of range is refused when it is left, not digit by
 * digit: what stays would be another number. */
static bool text_may_be(const struct form_field *f, const char *text)
{
	const char *takes = f->kind == FORM_DTYPE ? "abcdefghijklmnopqrstuvwxyz0123456789" : "0123456789";
	size_t n = strlen(text);
	return n < FORM_TEXT_SIZE && strspn(text, takes) == n;
}

void form_type(struct app *app, uint32_t key)
{
	struct prompt *q = &app->stage->prompt;
	const struct form_field *f = &q->fields[q->field];
	char before[sizeof(q->text)];
	bool untouched = q->untouched;
	memcpy(before, q->text, sizeof(before));
	if (f->locked) {
		app_note(app, false, "%s is fixed: --input sets it", f->shown);
		return;
	}
	if (!prompt_edit(q, key) || !q->text[0] || text_may_be(f, q->text))
		return;
	memcpy(q->text, before, sizeof(before));
	q->untouched = untouched;
	app_note(app, true,
		f->kind == FORM_DTYPE ? "%s is a data type: f32 bf16 f16 ...; Esc leaves the form" :
		"%s is a number, %s; j k move, q or Esc leaves the form", f->shown, form_range(f));
}

bool form_key(struct app *app, uint32_t key)
{
	struct prompt *q = &app->stage->prompt;
	struct form_field *f = &q->fields[q->field];
	bool steps = f->kind == FORM_DTYPE && !f->locked;
	if (key == KEY_CODE_ESC || key == ('C' & 31) || key == 'q')
		prompt_close(app);
	else if (key == KEY_CODE_ENTER) {
		if (field_keep(app))
			form_apply(app);
	} else if (key == KEY_CODE_DOWN || key == KEY_CODE_TAB || key == 'j')
		field_step(app, 1);
	else if (key == KEY_CODE_UP || key == KEY_CODE_BACKTAB || key == 'k')
		field_step(app, -1);
	else if (steps && (key == KEY_CODE_LEFT || key == KEY_CODE_RIGHT || key == ' '))
		dtype_step(q, key == KEY_CODE_LEFT ? -1 : 1);
	else
		form_type(app, key);
	return true;
}

const struct prompt_use prompt_form = { .key = form_key, .close = form_free };

void prompt_ask_unbound(struct app *app)
{
	const struct plan *p = app_plan(app);
	if (p && p->unbound_count)
		form_open(app);
}

static bool any_changed(const struct prompt *q)
{
	bool changed = q->text[0] && strcmp(q->text, q->fields[q->field].before) != 0;
	for (int i = 0; i < q->field_count; i++)
		changed |= i != q->field && form_changed(&q->fields[i]);
	return changed;
}

/* On a field: to it, or the next data type. Beside the form: leaves it, unless something would be lost. */
void form_click(struct app *app, int x, int y)
{
	struct prompt *q = &app->stage->prompt;
	const struct area *a = &q->fields_at;
	int to = q->field_top + y - a->y;
	if (x < a->x - 2 || x >= a->x + a->width + 2 || y < a->y - 1 || y > a->y + a->height) {
		if (any_changed(q))
			app_note(app, false, "Enter applies the changes, Esc discards them");
		else
			prompt_close(app);
	} else if (y >= a->y && y < a->y + a->height && to < q->field_count) {
		if (to == q->field && q->fields[to].kind == FORM_DTYPE)
			dtype_step(q, 1);
		else if (to != q->field && field_keep(app))
			field_show(q, to);
	}
}
