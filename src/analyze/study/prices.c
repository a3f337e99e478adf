/* Prices kept with a study. A price depends on the results that a scenario allows, not on which layers run at
 * the same time, are fused, or have which layout: scenarios that differ only in these share a list. A toggle
 * therefore looks up no price that an earlier scenario or effect has looked up. */
#include "config.h"

#include "analyze/study/price.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LISTS_BYTES_MAX ((size_t)96 << 20) /* beyond it, those that were asked longest ago are dropped */

/* Whether a result of branches side by side is suspect. */
struct verdict {
	const struct result *of;
	bool mistrusted;
};

struct price_lists {
	struct arena guesses;
	struct hash besides;     /* text of branches side by side -> its verdict; keys are in guesses */
	struct verdict *verdicts;
	int verdict_count, verdict_capacity;
	uint64_t asked;          /* how often lists were asked */
	struct arena parsed;     /* of study_problem: results do not change it */
	struct problem problem;  /* that it returned last */
	struct hash texts;       /* of study_distinct_of: text -> distinct problem; made when first asked */
	struct price_list **items;
	int count, capacity, last[2]; /* last: the one asked before, by its `best` */
};

/* The lowest choice that allows the same groups of the study. */
static enum fusion_level plain_fusion(const struct study *st, enum fusion_level chosen)
{
	static const enum fusion_level steps[] = { FUSION_OFF, FUSION_EPILOGUE, FUSION_FOLD, FUSION_PATTERN };
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		bool same = true;
		for (int k = FUSION_OFF + 1; k < FUSION_LEVELS; k++)
			same &= !(st->group_levels >> k & 1) ||
				fusion_allows(steps[i], (enum fusion_level)k) ==
					fusion_allows(chosen, (enum fusion_level)k);
		if (same)
			return steps[i];
	}
	return chosen;
}

/* Layers of bodies whose operators are described with a time. */
static int timed_inside(const struct plan_layer *l)
{
	int count = 0;
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; k < l->bodies[i].layer_count; k++)
			count += (op_own_time(l->bodies[i].layers[k].op) != NULL) +
				timed_inside(&l->bodies[i].layers[k]);
	return count;
}

int study_assumed(const struct study *st)
{
	int count = 0;
	for (int i = 0; st->on.assumed && i < st->plan->layer_count; i++)
		count += st->on.assumed[i].kind != ASSUME_NOTHING;
	for (int k = 0; k < st->control_count; k++)
		count += timed_inside(&st->plan->layers[st->controls[k]]);
	return count;
}

struct scenario study_plain(const struct study *st, const struct scenario *s)
{
	struct scenario plain = *s;
	int count;
	const struct what_if *rows = what_if_table(&count);
	/* results side by side are not marked */
	for (int i = 0; s->parallel != PARALLEL_MEASURED && i < count; i++) {
		const struct what_if *row = &rows[i];
		bool estimates = row->estimates && st->on.estimate && st->on.peaks;
		if (row->bars && what_if_choices(row) > 1 && !estimates && !study_can_bar(st, row, i, s))
			row->set(&plain, 0);
	}
	plain.cache = s->cache == CACHE_CHOICE_AUTO || study_cache(st, s) == st->usual ? CACHE_CHOICE_AUTO
										       : s->cache;
	plain.huge_pages = s->huge_pages && !st->on.estimate;
	plain.pad = s->pad && st->pads;
	plain.fold = s->fold && st->plan->fold_count > 0;
	plain.assume = s->assume && study_assumed(st) > 0;
	plain.fusion = plain_fusion(st, s->fusion);
	return plain;
}

static struct scenario allowed_by(const struct study *st, const struct scenario *s, bool best)
{
	struct scenario of = study_plain(st, s);
	of.parallel = PARALLEL_OFF;
	of.fusion = FUSION_OFF;
	of.layouts = LAYOUTS_FREE;
	of.fold = s->fold && st->folds_apart && st->marks.in_place;
	of.assume = false; /* an assumption changes a layer's cost, not its problem's price */
	of.best = best;
	return of;
}

static struct price_list *list_add(const struct study *st, const struct scenario *of)
{
	struct price_lists *l = st->lists;
	VEC_GROW(l->items, l->count, l->capacity);
	struct price_list *list = l->items[l->count] = base_calloc(1, sizeof(*list));
	list->of = *of;
	list->asked = ++l->asked;
	l->last[of->best] = l->count++;
	return list;
}

static void list_free(struct price_list *list)
{
	arena_free(&list->arena);
	free(list);
}

struct roof *study_roofs(const struct study *st, struct price_list *list)
{
	if (!list->roofs)
		list->roofs = ARENA_ARRAY(&list->arena, struct roof, st->distinct_count);
	return list->roofs;
}

struct use *study_uses(const struct study *st, struct price_list *list)
{
	if (!list->uses)
		list->uses = ARENA_ARRAY(&list->arena, struct use, st->distinct_count);
	return list->uses;
}

/* The list, which may be without room for prices. */
static struct price_list *list_of(const struct study *st, const struct scenario *s, bool best)
{
	struct price_lists *l = st->lists;
	if (st->view_of == s)
		return st->view_lists[best];
	struct scenario of = allowed_by(st, s, best);
	int last = l->last[best];
	if (last < l->count && scenario_equal(&l->items[last]->of, &of))
		return l->items[last];
	for (int i = 0; i < l->count; i++)
		if (scenario_equal(&l->items[i]->of, &of)) {
			l->last[best] = i;
			l->items[i]->asked = ++l->asked;
			return l->items[i];
		}
	return list_add(st, &of);
}

struct price_list *study_prices(const struct study *st, const struct scenario *s, bool best)
{
	struct price_list *list = list_of(st, s, best);
	if (list->prices)
		return list;
	list->prices = ARENA_ARRAY(&list->arena, struct price, st->distinct_count);
	list->ns = ARENA_ARRAY(&list->arena, double, st->distinct_count);
	list->state = ARENA_ARRAY(&list->arena, uint8_t, st->distinct_count);
	return list;
}

struct study study_view(const struct study *st, const struct scenario *s)
{
	struct study view = *st;
	view.cache = study_cache(st, s);
	view.view_of = NULL;
	for (int i = 0; i < 2; i++)
		view.view_lists[i] = list_of(st, s, i);
	view.view_of = s;
	return view;
}

const struct price *study_list_price(
	const struct study *st, struct price_list *list, const struct scenario *s, int distinct)
{
	struct price *price = &list->prices[distinct];
	if (list->state[distinct])
		return price;
	*price = study_price_in(st, s, distinct, list->of.best, LAYOUT_PAIRS_ALL);
	list->ns[distinct] = price->ns;
	list->state[distinct] = (uint8_t)(PRICE_KNOWN | (price->answered ? PRICE_ANSWERED : 0) |
		(price->answered && isnan(price->ns) ? PRICE_REFUSED : 0) |
		(price->estimated ? PRICE_ESTIMATED : 0) | (price->rough ? PRICE_ROUGH : 0));
	return price;
}

struct price study_price(const struct study *st, const struct scenario *s, int distinct, bool best)
{
	return *study_list_price(st, study_prices(st, s, best), s, distinct);
}

void study_lists_open(struct study *st)
{
	st->lists = base_calloc(1, sizeof(*st->lists));
}

void study_lists_close(struct study *st)
{
	if (st->lists) {
		study_forget_prices(st);
		arena_free(&st->lists->parsed);
		hash_free(&st->lists->texts);
		free(st->lists->items);
		free(st->lists->verdicts);
	}
	free(st->lists);
	st->lists = NULL;
}

void study_forget_prices(struct study *st)
{
	for (int i = 0; i < st->lists->count; i++)
		list_free(st->lists->items[i]);
	arena_free(&st->lists->guesses);
	hash_free(&st->lists->besides);
	st->lists->verdict_count = 0;
	st->lists->count = st->lists->last[0] = st->lists->last[1] = 0;
	memset(st->roofs, 0, (size_t)st->distinct_count * sizeof(*st->roofs));
}

const struct estimate *study_keep_guess(const struct study *st, const struct estimate *guess)
{
	struct estimate *kept = ARENA_NEW(&st->lists->guesses, struct estimate);
	*kept = *guess;
	return kept;
}

bool study_mistrusts_beside(const struct study *st, const char *text, const struct result *r)
{
	struct price_lists *l = st->lists;
	struct problem p;
	int64_t at = hash_find(&l->besides, text_of(text));
	if (at < 0) {
		VEC_GROW(l->verdicts, l->verdict_count, l->verdict_capacity);
		l->verdicts[l->verdict_count] = (struct verdict){ NULL, false };
		text = arena_strndup(&l->guesses, text, strlen(text));
		at = *hash_at(&l->besides, text_of(text)) = l->verdict_count++;
	}
	if (l->verdicts[at].of != r)
		l->verdicts[at] = (struct verdict){ r, problem_parse(text_of(text), &p, NULL) == 0 &&
			roofline_mistrusts(&p, st->on.peaks, r) };
	return l->verdicts[at].mistrusted;
}

void study_trim(struct study *st)
{
	struct price_lists *l = st->lists;
	size_t total = l->guesses.total;
	if (total > LISTS_BYTES_MAX)
		study_forget_prices(st);
	for (int i = 0; i < l->count; i++)
		total += l->items[i]->arena.total;
	for (; l->count && total > LISTS_BYTES_MAX; l->count--) {
		int oldest = 0;
		for (int i = 1; i < l->count; i++)
			oldest = l->items[i]->asked < l->items[oldest]->asked ? i : oldest;
		total -= l->items[oldest]->arena.total;
		list_free(l->items[oldest]);
		l->items[oldest] = l->items[l->count - 1];
	}
}

static void forget_price(struct study *st, int distinct)
{
	for (int i = 0; i < st->lists->count; i++) {
		struct price_list *list = st->lists->items[i];
		if (!list->prices)
			continue;
		list->prices[distinct].known = false;
		list->state[distinct] = 0;
		if (list->roofs)
			list->roofs[distinct].known = false;
		if (list->uses)
			list->uses[distinct].known = false;
		if (list->allowed)
			list->allowed[distinct] = NULL;
	}
	st->roofs[distinct].known = false;
}

bool study_renew(struct study *st, int distinct)
{
	bool pads = false;
	if (st->layouts) /* conversions depend on the results */
		return false;
	for (int i = 0; st->plan->padded && i < st->plan->problem_count; i++)
		if (st->plan->padded[i] == distinct) {
			forget_price(st, i);
			pads = true;
		}
	if (!st->wanted[distinct] && !pads)
		return true;
	study_read(st, distinct);
	if (!st->nxc && st->wanted[distinct] && layout_is_forced(st, distinct))
		return false;
	forget_price(st, distinct);
	return true;
}

/* Problems of a plan are kept as parsed; those that no kernel has are not. */
static const struct problem_kept *plan_parsed(const struct plan_problem *p)
{
	const char *kernel = kernel_name(p->problem->kernel);
	size_t n = strlen(kernel);
	return strncmp(p->text, kernel, n) == 0 && p->text[n] == ':' ? p->problem : NULL;
}

/* NULL: the text is not valid. */
static const struct problem_kept *problem_kept(const struct study *st, int distinct)
{
	static const struct problem_kept invalid;
	const struct problem_kept **kept = &st->problems[distinct];
	if (!*kept && distinct < plan_problem_total(st->plan))
		*kept = plan_parsed(&st->plan->problems[distinct]);
	if (!*kept) {
		struct problem p;
		bool valid = problem_parse(text_of(study_text(st, distinct)), &p, NULL) == 0;
		*kept = valid ? problem_keep(&st->lists->parsed, &p) : &invalid;
	}
	return *kept == &invalid ? NULL : *kept;
}

bool study_has_problem(const struct study *st, int distinct)
{
	return problem_kept(st, distinct) != NULL;
}

const struct problem *study_problem(const struct study *st, int distinct)
{
	const struct problem_kept *kept = problem_kept(st, distinct);
	if (!kept)
		return NULL;
	problem_restore(kept, &st->lists->problem);
	return &st->lists->problem;
}

int study_distinct_of(const struct study *st, struct text text)
{
	struct hash *h = &st->lists->texts;
	bool made = h->count > 0;
	for (int i = 0; !made && i < st->distinct_count; i++)
		*hash_at(h, text_of(study_text(st, i))) = i;
	return (int)hash_find(h, text);
}
