/* Reads LAYER=COST and finds the layers that are meant, by number, name or operator. */
#include "config.h"

#include "analyze/scenario/assume.h"
#include "base/word.h"
#include "plan/value/short_name.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_COMPARED 256
#define SHOWN 60 /* columns of a name in an error */

int assume_parse(const char *text, struct assume_item *item, struct error *err)
{
	const char *equals = strrchr(text, '=');
	if (!equals || equals == text)
		return error_set(err, "'%.80s' is not LAYER=COST, e.g. conv1=12us or conv1=2x", text);
	item->layer = (struct text){ text, (size_t)(equals - text) };
	return assumed_parse(text_of(equals + 1), &item->cost, err) ?
		error_context(err, "%.80s", text) : 0;
}

/* ---- layers */

enum selects { BY_NAME, BY_NUMBER, BY_SHORT_NAME, BY_OPERATOR, BY_PROBLEM, BY_WILDCARD, SELECTS_COUNT };

struct selector {
	const struct plan *plan;
	const int *numbers;
	struct text text;
	int64_t number;      /* -1: the text is not a number */
	int named_short;     /* the layer that the explorer shows by that name, or -1 */
	const char *pattern; /* the text, NUL-terminated */
};

static bool needs_time(const struct plan_layer *l)
{
	return l->class != CLASS_FREE;
}

static bool is_operator(const struct plan_layer *l, struct text word)
{
	return text_equal(l->node->op, word);
}

static bool selects(const struct selector *x, enum selects how, const struct plan_layer *l)
{
	char name[NAME_MAX_COMPARED];
	switch (how) {
	case BY_NAME: return text_equal(l->name, x->text);
	case BY_NUMBER: return x->number > 0 && x->numbers[l->index] == x->number;
	case BY_SHORT_NAME: return l->index == x->named_short;
	case BY_OPERATOR:
		return x->text.n > 3 && memcmp(x->text.p, "op=", 3) == 0 && needs_time(l) &&
			is_operator(l, (struct text){ x->text.p + 3, x->text.n - 3 });
	case BY_PROBLEM:
		return l->problem >= 0 && needs_time(l) &&
			text_is(x->text, x->plan->problems[l->problem].text);
	case BY_WILDCARD:
		if (!strpbrk(x->pattern, "*?[") || !needs_time(l) || l->name.n >= sizeof(name))
			return false;
		memcpy(name, l->name.p, l->name.n);
		name[l->name.n] = '\0';
		return strlen(name) == l->name.n && fnmatch(x->pattern, name, 0) == 0;
	default: return false;
	}
}

static int count_selected(const struct selector *x, enum selects how)
{
	int count = 0;
	for (int i = 0; i < x->plan->layer_count; i++)
		count += selects(x, how, &x->plan->layers[i]);
	return count;
}

/* No layer is selected. Suggests an operator of that name, else the first name that contains the text, else
 * the nearest one. */
static int unknown_layer(const struct selector *x, struct error *err)
{
	const struct plan_layer *inside = NULL, *near = NULL, *op = NULL;
	struct arena a = { 0 };
	int least = 1 + (int)x->text.n / 3, containing = 0, last = 0;
	for (int i = 0; i < x->plan->layer_count; i++) {
		const struct plan_layer *l = &x->plan->layers[i];
		last = x->numbers[i] > last ? x->numbers[i] : last;
		if (!x->numbers[i] || !needs_time(l))
			continue;
		int distance = word_distance(x->text, l->name, true);
		op = op || !is_operator(l, x->text) ? op : l;
		containing += text_contains(l->name, x->text);
		inside = inside || !text_contains(l->name, x->text) ? inside : l;
		near = distance <= least ? l : near;
		least = distance <= least ? distance - 1 : least;
	}
	const char *shown = text_cut(&a, text_clean(&a, x->text), SHOWN, false);
	near = inside ? inside : near;
	if (x->number >= 0)
		error_set(err, "no layer has the number %s; benanza layers numbers them from 1 to %d", shown,
			last);
	else if (op)
		error_set(err, "no layer is named '%s'; op=%s selects all layers of this operator", shown,
			shown);
	else if (containing > 1)
		error_set(err, "no layer is named '%s'; '*%s*' selects %d layers, first '%s'", shown, shown,
			containing, text_cut(&a, text_clean(&a, near->name), SHOWN, false));
	else if (near)
		error_set(err, "no layer is named '%s'; did you mean '%s'?", shown,
			text_cut(&a, text_clean(&a, near->name), SHOWN, false));
	else
		error_set(err, "no layer is named '%s'; benanza layers lists their names and numbers", shown);
	arena_free(&a);
	return -1;
}

/* Several layers of one name: their numbers tell them apart. */
static int same_name(const struct selector *x, int count, struct error *err)
{
	struct str list = { 0 };
	struct arena a = { 0 };
	int put = 0;
	for (int i = 0; i < x->plan->layer_count && put < 3; i++)
		if (selects(x, BY_NAME, &x->plan->layers[i]) && x->numbers[i] > 0)
			str_addf(&list, "%s#%d", put++ ? ", " : "", x->numbers[i]);
	error_set(err, "%d layers are named '%s'; give a number (%s)", count,
		text_cut(&a, text_clean(&a, x->text), SHOWN, false), list.p ? list.p : "#N");
	str_free(&list);
	arena_free(&a);
	return -1;
}

/* The text is the name of one layer and the number of another. */
static int name_or_number(const struct selector *x, struct error *err)
{
	const struct plan_layer *named = NULL;
	for (int i = 0; i < x->plan->layer_count && !named; i++)
		if (selects(x, BY_NAME, &x->plan->layers[i]))
			named = &x->plan->layers[i];
	return error_set(err, "%d is a layer's number and the name of layer %d; give #%d or #%d",
		(int)x->number, x->numbers[named->index], (int)x->number, x->numbers[named->index]);
}

int assume_apply(const struct plan *p, const int *numbers, const struct assume_item *item,
	struct assumption *by_layer, struct error *err)
{
	struct text digits = item->layer;
	bool hash = digits.n > 1 && digits.p[0] == '#';
	digits = hash ? (struct text){ digits.p + 1, digits.n - 1 } : digits;
	struct selector x = { .plan = p, .numbers = numbers, .text = item->layer, .number = -1,
		.named_short = -1 };
	if (!text_to_int64(digits, &x.number))
		x.number = -1;
	char *pattern = base_malloc(item->layer.n + 1);
	memcpy(pattern, item->layer.p, item->layer.n);
	pattern[item->layer.n] = '\0';
	x.pattern = pattern;
	int count = 0, how = 0, named = count_selected(&x, BY_NAME), numbered = count_selected(&x, BY_NUMBER);
	if (!named && !numbered)
		x.named_short = plan_named_short(p, numbers, item->layer);
	bool same = named == 1 && numbered == 1;
	for (int i = 0; same && i < p->layer_count; i++)
		same = !selects(&x, BY_NAME, &p->layers[i]) || selects(&x, BY_NUMBER, &p->layers[i]);
	if (named > 1)
		count = same_name(&x, named, err);
	else if (named && numbered && !same && !hash)
		count = name_or_number(&x, err);
	for (; how < SELECTS_COUNT && !count; how++)
		count = count_selected(&x, (enum selects)how);
	for (int i = 0; count > 0 && i < p->layer_count; i++)
		if (selects(&x, (enum selects)(how - 1), &p->layers[i]))
			by_layer[i] = item->cost;
	if (!count)
		count = unknown_layer(&x, err);
	free(pattern);
	return count;
}
