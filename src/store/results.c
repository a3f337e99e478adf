/* A hash table from the text of a problem to its results, sorted by key. A replaced result only leaves its
 * array: pointers to it stay valid. */
#include "config.h"

#include "store/results_private.h"

#include "base/hash.h"
#include "problem/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct results_mix {
	const struct result *near, *far, *mix;
	double step;
};

/* The current results of one problem, sorted, and the replaced ones. A replaced result only leaves the array:
 * its memory neither moves nor changes, so that pointers to it stay valid. The memory of one that is dropped
 * for good is used again for a new result once nobody holds the results (results_hold), so that measuring
 * again and again takes no more memory. */
struct results_entry {
	const char *problem;
	bool finished;
	signed char rotates; /* it has constants: 1, none: -1, not looked at: 0 */
	int count, old_count; /* the arrays have the next power of two as capacity */
	const struct result **items, **old;
	const struct result *rough;
	struct results_mix *mixes; /* results_between, until a result is added */
	int mix_count, mix_capacity;
	const struct result **several; /* full results of keys that have more than one: what is current of
					  these keys is made of them */
	int several_count;
};

struct results {
	struct arena arena;
	struct hash by_problem; /* text -> index in entries */
	struct hash strings; /* interned texts but problems: many results share few distinct ones */
	struct results_entry *entries;
	int count, capacity;  /* also of problems without results: finished, or with a rough one */
	int measured_count;   /* problems with results */
	const char **interned;
	int interned_count, interned_capacity;
	bool cache[CACHE_COUNT]; /* of results with status ok */
	const char **changed; /* problem of each change; of the last RESULTS_CHANGES, as a ring */
	size_t changed_count, changed_capacity;
	struct result **dropped; /* the first `spare` of them are free */
	int dropped_count, dropped_capacity, spare;
	int holds;
	const char **besides; /* problems of branches side by side */
	int beside_count, beside_capacity;
	uint64_t *seen; /* fingerprints of all results that were added, hashed with linear probing; 0: free */
	size_t seen_count, seen_capacity;
};

struct results *results_new(void)
{
	return base_calloc(1, sizeof(struct results));
}

/* Sketches are not shared, unlike other texts: each result has its own. */
static void results_sketch_free(const struct result *one)
{
	if (one)
		free((char *)(uintptr_t)one->sketch);
}

void results_free(struct results *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->count; i++) {
		struct results_entry *e = &r->entries[i];
		for (int k = 0; k < e->count; k++)
			results_sketch_free(e->items[k]);
		for (int k = 0; k < e->old_count; k++)
			results_sketch_free(e->old[k]);
		for (int k = 0; k < e->several_count; k++)
			results_sketch_free(e->several[k]);
		results_sketch_free(e->rough);
		for (int k = 0; k < e->mix_count; k++)
			results_sketch_free(e->mixes[k].mix);
		free(e->mixes);
		free(e->items);
		free(e->old);
		free(e->several);
	}
	for (int i = 0; i < r->dropped_count; i++)
		results_sketch_free(r->dropped[i]);
	free(r->entries);
	free(r->interned);
	free(r->changed);
	free(r->besides);
	free(r->dropped);
	free(r->seen);
	hash_free(&r->by_problem);
	hash_free(&r->strings);
	arena_free(&r->arena);
	free(r);
}

static const char *results_intern(struct results *r, const char *s)
{
	struct text t = text_of(s);
	int64_t known = hash_find(&r->strings, t);
	if (known >= 0)
		return r->interned[known];
	char *copy = arena_strndup(&r->arena, t.p, t.n);
	VEC_GROW(r->interned, r->interned_count, r->interned_capacity);
	*hash_at(&r->strings, (struct text){ copy, t.n }) = r->interned_count;
	return r->interned[r->interned_count++] = copy;
}

/* Nobody needs the result any more, except those who hold the results now. */
static void results_drop(struct results *r, const struct result *one)
{
	VEC_GROW(r->dropped, r->dropped_count, r->dropped_capacity);
	r->dropped[r->dropped_count++] = (struct result *)(uintptr_t)one;
	if (!r->holds)
		r->spare = r->dropped_count;
}

void results_hold(const struct results *r)
{
	((struct results *)(uintptr_t)r)->holds++;
}

void results_release(const struct results *r)
{
	struct results *own = (struct results *)(uintptr_t)r;
	if (--own->holds == 0)
		own->spare = own->dropped_count;
}

static struct result *results_room(struct results *r)
{
	if (!r->spare)
		return ARENA_NEW(&r->arena, struct result);
	struct result *room = r->dropped[--r->spare];
	r->dropped[r->spare] = r->dropped[--r->dropped_count];
	results_sketch_free(room);
	return room;
}

/* The problem's entry, made if it is new. */
static struct results_entry *results_entry_of(struct results *r, const char *problem)
{
	int64_t at = hash_find(&r->by_problem, text_of(problem));
	if (at >= 0)
		return &r->entries[at];
	struct text copy = text_of(problem);
	copy.p = arena_strndup(&r->arena, copy.p, copy.n);
	*hash_at(&r->by_problem, copy) = r->count;
	VEC_GROW(r->entries, r->count, r->capacity);
	r->entries[r->count] = (struct results_entry){ .problem = copy.p };
	return &r->entries[r->count++];
}

static const struct results_entry *results_entry_find(const struct results *r, const char *problem)
{
	static const struct results_entry none;
	int64_t at = hash_find(&r->by_problem, text_of(problem));
	return at < 0 ? &none : &r->entries[at];
}

/* Makes room for one more: most problems have few results. */
static void results_grow(const struct result ***items, int count)
{
	if ((count & (count - 1)) == 0) /* 0 or a power of two: it is full */
		*items = base_realloc(*items, (count ? 2 * (size_t)count : 1) * sizeof(**items));
}

/* The places of a result's texts, but for the problem and the sketch. */
#define RESULTS_TEXTS(r)                                                                               \
	&(r)->algorithm.api, &(r)->algorithm.name, &(r)->algorithm.layouts, &(r)->algorithm.math,      \
		&(r)->algorithm.notes, &(r)->why, &(r)->kernels, &(r)->runner_version

/* problem: the entry's. */
static const struct result *results_copy(struct results *r, const struct result *one, const char *problem)
{
	struct result *copy = results_room(r);
	*copy = *one;
	copy->problem = problem;
	const char **texts[] = { RESULTS_TEXTS(copy) };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = results_intern(r, *texts[i]);
	copy->sketch = base_strdup(one->sketch);
	return copy;
}

static int results_compare(const struct result *a, const struct result *b)
{
	int ra = a->algorithm.rank, rb = b->algorithm.rank;
	return ra != rb ? (ra < rb ? -1 : 1) : results_key_compare(a, b);
}

/* True for a failure of the whole problem, before any algorithm was tried. */
static bool results_is_whole(const struct result *r)
{
	return r->algorithm.name[0] == '\0';
}

/* True if `one` makes way for `other`: they have the same key and `other` stands, or `one` is a failure of
 * the whole problem and `other`, which is not, is not older. The date decides, because imported rows may be
 * older than those added before; of one date, the one that is added last counts as later. */
static bool results_yields(const struct result *one, const struct result *other, bool other_added_last)
{
	bool later = other->measured_at > one->measured_at ||
		(other->measured_at == one->measured_at && other_added_last);
	bool same = results_key_compare(other, one) == 0;
	if (same && result_is_beyond(one) != result_is_beyond(other)) /* there was room at another time */
		return result_is_beyond(one) ? other->status == STATUS_OK || later :
			one->status != STATUS_OK && later;
	if (same)
		return later ? results_outweighs(other, one) : !results_outweighs(one, other);
	return later && results_is_whole(one) && !results_is_whole(other);
}

/* A hash of what differs between two rows, never 0; of times as many digits as a file of results has. */
static uint64_t results_fingerprint(const struct result *r)
{
	const struct sample_stats *s = &r->stats;
	const double numbers[] = { (double)r->measured_at, (double)r->status, (double)r->algorithm.rank,
		(double)r->cache, (double)r->launch, (double)s->n };
	const float times[] = { isnan(s->median) ? 0 : (float)s->median, isnan(s->mean) ? 0 : (float)s->mean,
		isnan(s->stdev) ? 0 : (float)s->stdev }; /* NaN has several patterns */
	const char *const texts[] = { r->problem, r->algorithm.api, r->algorithm.name, r->algorithm.layouts,
		r->algorithm.math };
	uint64_t hash = 31 * hash_bytes(numbers, sizeof(numbers)) + hash_bytes(times, sizeof(times));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		hash = 31 * hash + hash_bytes(texts[i], strlen(texts[i]));
	return hash ? hash : 1;
}

/* Its place in the set, which is free if it is new. */
static uint64_t *results_seen_at(const struct results *r, uint64_t print)
{
	size_t at = print & (r->seen_capacity - 1);
	while (r->seen[at] && r->seen[at] != print)
		at = (at + 1) & (r->seen_capacity - 1);
	return &r->seen[at];
}

/* Returns true if the row was added before: a process reads its own additions back from the file. */
static bool results_saw(struct results *r, const struct result *one)
{
	uint64_t print = results_fingerprint(one);
	if (2 * r->seen_count >= r->seen_capacity) {
		struct results had = *r;
		r->seen_capacity = had.seen_capacity ? 2 * had.seen_capacity : 64;
		r->seen = base_calloc(r->seen_capacity, sizeof(*r->seen));
		for (size_t i = 0; i < had.seen_capacity; i++)
			if (had.seen[i])
				*results_seen_at(r, had.seen[i]) = had.seen[i];
		free(had.seen);
	}
	uint64_t *at = results_seen_at(r, print);
	if (*at)
		return true;
	*at = print;
	r->seen_count++;
	return false;
}

/* True if a current result stands and `one`, which is added now, does not. */
static bool results_is_outdated(const struct results_entry *e, const struct result *one)
{
	for (int i = 0; i < e->count; i++)
		if (results_yields(one, e->items[i], false))
			return true;
	return false;
}

/* True if two replaced results differ in their times only, for those who read replaced ones. */
static bool results_are_alike(const struct result *a, const struct result *b)
{
	return results_key_compare(a, b) == 0 && a->stats.stop == b->stats.stop &&
		a->algorithm.matrix == b->algorithm.matrix &&
		strcmp(a->runner_version, b->runner_version) == 0;
}

/* Drops what the result that stands was pooled of, or might be. */
static void results_forget(struct results *r, struct results_entry *e, const struct result *stands)
{
	int kept = 0;
	for (int i = 0; i < e->several_count; i++)
		if (results_are_full(e->several[i], stands))
			results_drop(r, e->several[i]);
		else
			e->several[kept++] = e->several[i];
	e->several_count = kept;
}

static void results_append(const struct result ***list, int *count, const struct result *one)
{
	results_grow(list, *count);
	(*list)[(*count)++] = one;
}

/* Keeps a replaced result, of those that are alike the fastest one. */
static void results_entry_retire(struct results *r, struct results_entry *e, const struct result *one)
{
	if (one->status != STATUS_OK) {
		results_drop(r, one);
		return;
	}
	for (int i = 0; i < e->old_count; i++)
		if (results_are_alike(e->old[i], one)) {
			bool faster = results_best_ns(one) < results_best_ns(e->old[i]);
			results_drop(r, faster ? e->old[i] : one);
			e->old[i] = faster ? one : e->old[i];
			return;
		}
	results_append(&e->old, &e->old_count, one);
}

/* Removes the results that `one` replaces, then inserts it in order. */
static void results_entry_add(struct results *r, struct results_entry *e, const struct result *one)
{
	int kept = 0, had = e->count;
	for (int i = 0; i < had; i++)
		if (!results_yields(e->items[i], one, true))
			e->items[kept++] = e->items[i];
		else {
			results_forget(r, e, e->items[i]);
			results_entry_retire(r, e, e->items[i]);
		}
	if (kept == had) /* else the place of a removed one is free */
		results_grow(&e->items, had);
	e->count = kept + 1;
	int at = kept;
	for (; at > 0 && results_compare(e->items[at - 1], one) > 0; at--)
		e->items[at] = e->items[at - 1];
	e->items[at] = one;
}

static void results_note(struct results *r, const char *problem)
{
	if (r->changed_count < RESULTS_CHANGES)
		VEC_GROW(r->changed, r->changed_count, r->changed_capacity);
	r->changed[r->changed_count++ % RESULTS_CHANGES] = problem;
}

/* The result with "" for texts that are NULL, and its cost and interval as the range of one measurement. */
static struct result results_whole(const struct result *one)
{
	struct result whole = *one;
	const char **texts[] = { RESULTS_TEXTS(&whole), &whole.problem, &whole.sketch };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!*texts[i])
			*texts[i] = "";
	if (results_times(one) == 1) {
		whole.least_ns = whole.most_ns = stats_cost(&one->stats);
		whole.lowest_hi_ns = stats_cost_hi(&one->stats);
		whole.highest_lo_ns = stats_cost_lo(&one->stats);
	}
	return whole;
}

/* Notes the first result of a problem. */
static void results_note_first(struct results *r, const char *problem)
{
	r->measured_count++;
	if (!problem_is_beside(problem))
		return;
	VEC_GROW(r->besides, r->beside_count, r->beside_capacity);
	r->besides[r->beside_count++] = problem;
}

/* Adds a measurement whose key has one that stands, at `at`, as good as it: all of the key are grouped anew,
 * so that their order does not matter. The largest group stands: neither the newest nor the lowest is right
 * for that alone. Of several as large the one that was so first stands, and is disputed. */
static void results_weigh(struct results *r, struct results_entry *e, int at, const struct result *one)
{
	const struct result *list[RESULTS_SEVERAL + 1];
	struct str sketch = { 0 };
	bool disputed;
	int count = 0;
	for (int i = 0; i < e->several_count; i++)
		if (results_are_full(e->several[i], one))
			list[count++] = e->several[i];
	if (count)
		results_drop(r, e->items[at]);
	else
		results_append(&e->several, &e->several_count, list[count++] = e->items[at]);
	results_append(&e->several, &e->several_count, list[count++] = one);
	int stand = results_group(list, count, &disputed);
	for (int i = 0; count > RESULTS_SEVERAL && i < e->several_count; i++)
		if (e->several[i] == list[count - 1]) { /* the slowest, if it does not stand */
			e->several[i] = e->several[--e->several_count];
			results_drop(r, list[--count]);
		}
	struct result pooled = results_pooled(list, stand < count ? stand : count, &sketch);
	pooled.disputed = disputed;
	e->items[at] = results_copy(r, &pooled, e->problem);
	str_free(&sketch);
}

static double results_way(double from, double to, double step)
{
	return from + step * (to - from);
}

static struct sample_stats results_stats_between(
	const struct sample_stats *near, const struct sample_stats *far, double step)
{
	struct sample_stats s = *far;
	s.n = near->n < far->n ? near->n : far->n;
	s.discarded += near->discarded;
	s.min = fmin(near->min, far->min);
	s.q1 = results_way(near->q1, far->q1, step);
	s.median = results_way(near->median, far->median, step);
	s.q3 = results_way(near->q3, far->q3, step);
	s.mean = results_way(near->mean, far->mean, step);
	s.stdev = fmax(near->stdev, far->stdev);
	s.lo = fmin(near->lo, far->lo);
	s.hi = fmax(near->hi, far->hi);
	s.p10 = results_way(near->p10, far->p10, step);
	s.p10_lo = fmin(near->p10_lo, far->p10_lo);
	s.p10_hi = fmax(near->p10_hi, far->p10_hi);
	s.spent += near->spent;
	s.stop = near->stop == STOP_DISTURBED ? near->stop : far->stop;
	return s;
}

const struct result *results_between(
	const struct results *r, const struct result *near, const struct result *far, double step)
{
	struct results *own = (struct results *)(uintptr_t)r; /* a cache */
	struct results_entry *e = results_entry_of(own, far->problem);
	for (int i = 0; i < e->mix_count; i++)
		if (e->mixes[i].near == near && e->mixes[i].far == far && e->mixes[i].step == step)
			return e->mixes[i].mix;
	struct result mix = *far;
	mix.stats = results_stats_between(&near->stats, &far->stats, step);
	mix.least_ns = results_way(near->least_ns, far->least_ns, step);
	mix.most_ns = results_way(near->most_ns, far->most_ns, step);
	mix.disputed = near->disputed || far->disputed;
	mix.sketch = "";
	VEC_GROW(e->mixes, e->mix_count, e->mix_capacity);
	e->mixes[e->mix_count] = (struct results_mix){ near, far, results_copy(own, &mix, e->problem), step };
	return e->mixes[e->mix_count++].mix;
}

void results_add(struct results *r, const struct result *one)
{
	struct result whole = results_whole(one);
	struct results_entry *e = results_entry_of(r, whole.problem);
	if (results_saw(r, &whole))
		return;
	while (e->mix_count)
		results_drop(r, e->mixes[--e->mix_count].mix);
	const struct result *copy = results_copy(r, &whole, e->problem);
	if (!e->count && !e->old_count)
		results_note_first(r, e->problem);
	results_note(r, e->problem);
	if (copy->status == STATUS_OK)
		r->cache[copy->cache] = true;
	for (int i = 0; i < e->count; i++)
		if (results_are_full(e->items[i], copy)) {
			results_weigh(r, e, i, copy);
			return;
		}
	if (results_is_outdated(e, copy))
		results_entry_retire(r, e, copy);
	else
		results_entry_add(r, e, copy);
}

void results_add_rough(struct results *r, const struct result *one)
{
	struct result whole = results_whole(one);
	struct results_entry *e = results_entry_of(r, whole.problem);
	const struct result *before = e->rough;
	e->rough = results_copy(r, &whole, e->problem);
	if (before)
		results_drop(r, before);
	results_note(r, e->problem);
}

const struct result *results_rough(const struct results *r, const char *problem)
{
	const struct results_entry *e = results_entry_find(r, problem);
	return e->finished ? NULL : e->rough;
}

const struct result *const *results_of(const struct results *r, const char *problem, int *count)
{
	const struct results_entry *e = results_entry_find(r, problem);
	*count = e->count;
	return (const struct result *const *)e->items;
}

const char *const *results_besides(const struct results *r, int *count)
{
	*count = r->beside_count;
	return r->besides;
}

const struct result *const *results_replaced(const struct results *r, const char *problem, int *count)
{
	const struct results_entry *e = results_entry_find(r, problem);
	*count = e->old_count;
	return (const struct result *const *)e->old;
}

bool results_have_cache(const struct results *r, enum cache c)
{
	return r->cache[c];
}

bool results_have_distances(const struct results *r)
{
	bool any = false;
	for (enum cache c = CACHE_NEAREST; c < CACHE_STATES; c++)
		any = any || r->cache[c];
	return any;
}

bool results_same_algorithm(const struct result *a, const struct result *b)
{
	return algorithm_compare(&a->algorithm, &b->algorithm) == 0;
}

void results_finish(struct results *r, const char *problem)
{
	struct results_entry *e = results_entry_of(r, problem);
	if (!e->finished)
		results_note(r, e->problem);
	e->finished = true;
}

bool results_is_finished(const struct results *r, const char *problem)
{
	return results_entry_find(r, problem)->finished;
}

/* True if the results have this state or, without constants, one of these pages. Without any state there is
 * nothing to have. */
static bool has_state(const bool have[CACHE_COUNT], enum cache c, bool rotates, bool far)
{
	bool paged = false, plain = c == CACHE_WARM || cache_plain(c) == CACHE_COLD;
	for (enum cache k = 0; k < CACHE_STATES; k++)
		paged = paged || have[cache_in_pages(k, cache_is_huge(c))];
	bool optional = plain || (!cache_is_distance(c) && !cache_is_huge(c) && !far);
	return have[c] || (rotates ? optional : paged);
}

/* Parses the text once: this is asked of all problems for each frame. */
static bool results_entry_rotates(const struct results_entry *e)
{
	struct results_entry *own = (struct results_entry *)(uintptr_t)e; /* a cache */
	struct problem p;
	if (!e->rotates) {
		bool good = problem_parse(text_of(e->problem), &p, NULL) == 0;
		own->rotates = good && problem_has_constant(&p) ? 1 : -1;
	}
	return e->rotates > 0;
}

bool results_lack(const struct results *r, const char *problem, const bool caches[CACHE_COUNT],
	bool lacks[CACHE_COUNT])
{
	const struct results_entry *e = results_entry_find(r, problem);
	bool have[CACHE_COUNT] = { false }, far = false, any = false, lack = false;
	memcpy(lacks, caches, CACHE_COUNT * sizeof(*lacks));
	if (!e->finished)
		return true;
	for (int i = 0; i < e->count; i++) {
		const struct result *one = e->items[i];
		bool ok = one->status == STATUS_OK;
		have[one->cache] = have[one->cache] || ok || result_is_beyond(one);
		any = any || ok;
		far = far || (ok && cache_is_distance(one->cache));
	}
	if (!any)
		return false;
	bool rotates = results_entry_rotates(e);
	for (enum cache c = 0; c < CACHE_COUNT; c++) {
		lacks[c] = caches[c] && !has_state(have, c, rotates, far);
		lack = lack || lacks[c];
	}
	return lack;
}

uint64_t results_version(const struct results *r)
{
	return r->changed_count;
}

const char *results_changed(const struct results *r, uint64_t change)
{
	return r->changed[change % RESULTS_CHANGES];
}

const char *results_problem(const struct results *r, int i)
{
	return i < r->count ? r->entries[i].problem : NULL;
}

int results_problem_count(const struct results *r)
{
	return r->measured_count;
}

size_t results_bytes(const struct results *r)
{
	size_t arrays = r->changed_capacity + (size_t)r->interned_capacity + (size_t)r->dropped_capacity;
	for (int i = 0; i < r->count; i++)
		arrays += (size_t)r->entries[i].count + (size_t)r->entries[i].old_count;
	return r->arena.total + arrays * sizeof(void *) + (size_t)r->capacity * sizeof(*r->entries);
}
