/* Cache states in order of distance, and copies of results. */
#include "config.h"

#include "problem/result.h"

#include <math.h>
#include <string.h>

static const char *const status_names[] = {
#define STATUS_NAME(id, name) name,
	STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
};
#define CACHE_NAMES(pages)                                                                             \
	"net" pages, "warm" pages, "cold" pages, "1m" pages, "2m" pages, "4m" pages, "8m" pages,       \
		"16m" pages, "32m" pages, "64m" pages, "128m" pages, "256m" pages, "512m" pages
static const char *const cache_names[] = { CACHE_NAMES(""), CACHE_NAMES("@2m") };
static const char *const launch_names[] = { "amortized", "isolated" };
static const char *const matrix_names[] = { "unknown", "no", "yes" };
static const char *const stop_names[] = { "none", "converged", "budget", "shortlist", "cancelled",
	"disturbed" };

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

_Static_assert(COUNT(cache_names) == CACHE_COUNT, "a name for every cache state");
_Static_assert(COUNT(launch_names) == LAUNCH_COUNT, "a name for every launch mode");
_Static_assert(COUNT(stop_names) == STOP_COUNT, "a name for every stop reason");

static int name_find(const char *const *names, int count, const char *name)
{
	for (int i = 0; name && i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

#define NAMES(type, stem)                                                        \
	const char *stem##_name(enum type v)                                     \
	{                                                                        \
		return stem##_names[v];                                          \
	}                                                                        \
	int stem##_parse(const char *name)                                       \
	{                                                                        \
		return name_find(stem##_names, COUNT(stem##_names), name);       \
	}

NAMES(status, status)
NAMES(cache, cache)
NAMES(launch, launch)
NAMES(matrix, matrix)
NAMES(stop, stop)

double cache_distance(enum cache c)
{
	c = cache_plain(c);
	return cache_is_distance(c) ? ldexp(1, 20 + (int)c - CACHE_NEAREST) : c == CACHE_WARM ? 0 : INFINITY;
}

double cache_copies(enum cache c, double constant, double other)
{
	return constant > 0 ? fmax(1, 1 + round((cache_distance(c) - other) / constant)) : 1;
}

enum cache cache_nearer(uint32_t there, enum cache c)
{
	enum cache first = cache_in_pages(CACHE_NEAREST, cache_is_huge(c)), near = c,
		   warm = cache_in_pages(CACHE_WARM, cache_is_huge(c));
	while (near > first)
		if (there >> --near & 1)
			return near;
	return there >> warm & 1 ? warm : c;
}

double cache_step(enum cache c, double bytes)
{
	double step = cache_is_distance(c) ? log2(bytes / cache_distance(c)) + 1 : 1;
	return step >= 0 ? fmin(step, 1) : isnan(step) ? 1 : 0;
}

enum cache cache_at_distance(double bytes)
{
	for (enum cache c = CACHE_NEAREST; c < CACHE_STATES; c++)
		if (bytes <= cache_distance(c))
			return c;
	return CACHE_NET;
}

bool job_kind_is_valid(const char *kind)
{
	size_t n = strspn(kind, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	return n > 0 && n <= JOB_KIND_MAX && !kind[n];
}

/* True if the word is one of a list that is separated by blanks. */
static bool words_contain(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strncmp(at, word, n) == 0 && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

bool jobs_contain(const char *jobs, const char *kind)
{
	return jobs && *jobs ? words_contain(jobs, kind) : strcmp(kind, JOB_PROBLEM) == 0;
}

double stats_cost(const struct sample_stats *s)
{
	return !(s->p10 > 0) ? s->median : s->p10;
}

double stats_cost_lo(const struct sample_stats *s)
{
	return !(s->p10 > 0) ? s->lo : s->p10_lo;
}

double stats_cost_hi(const struct sample_stats *s)
{
	return !(s->p10 > 0) ? s->hi : s->p10_hi;
}

int algorithm_compare(const struct algorithm *a, const struct algorithm *b)
{
	int c = strcmp(a->name, b->name);
	c = c ? c : strcmp(a->layouts, b->layouts);
	c = c ? c : strcmp(a->api, b->api);
	return c ? c : strcmp(a->math, b->math);
}

bool algorithm_is_in_place(const struct algorithm *a)
{
	return a->notes && words_contain(a->notes, "in_place");
}

static void strings_copy(struct arena *a, const char ***strings, int count)
{
	for (int i = 0; i < count; i++)
		*strings[i] = *strings[i] ? arena_strndup(a, *strings[i], strlen(*strings[i])) : "";
}

#define LLC_FACTOR 2 /* reads after this number of last-level caches come from memory */

enum cache device_cache(const struct device *d, double distance)
{
	bool far = d->llc_bytes > 0 && distance >= LLC_FACTOR * d->llc_bytes;
	return far ? CACHE_NET : distance <= cache_distance(CACHE_NEAREST) ? CACHE_WARM
									   : cache_at_distance(distance);
}

void device_states(const struct device *d, double distance, bool huge, bool caches[CACHE_COUNT])
{
	enum cache own = d->distances ? device_cache(d, distance) : CACHE_NET;
	memset(caches, 0, CACHE_COUNT * sizeof(*caches));
	for (int pages = 0; pages <= (huge && d->huge_pages); pages++) {
		caches[cache_in_pages(own, pages)] = caches[cache_in_pages(CACHE_WARM, pages)] = true;
		if (cache_is_distance(own) && own > CACHE_NEAREST)
			caches[cache_in_pages(own - 1, pages)] = true;
	}
}

struct device device_copy(struct arena *a, const struct device *d)
{
	struct device copy = *d;
	const char **strings[] = { &copy.name, &copy.model, &copy.stack, &copy.runner, &copy.version,
		&copy.host, &copy.attributes, &copy.jobs };
	strings_copy(a, strings, COUNT(strings));
	return copy;
}

struct algorithm algorithm_copy(struct arena *a, const struct algorithm *from)
{
	struct algorithm copy = *from;
	const char **strings[] = { &copy.api, &copy.name, &copy.layouts, &copy.math, &copy.notes };
	strings_copy(a, strings, COUNT(strings));
	return copy;
}

struct result result_copy(struct arena *a, const struct result *r)
{
	struct result copy = *r;
	const char **strings[] = { &copy.problem, &copy.why, &copy.kernels, &copy.runner_version,
		&copy.sketch };
	copy.algorithm = algorithm_copy(a, &r->algorithm);
	strings_copy(a, strings, COUNT(strings));
	return copy;
}
