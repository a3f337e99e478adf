#include "config.h"

#include "analyze/analyze_private.h"

#include "base/hash.h"
#include "problem/beside.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What ran, by the names and notes of algorithms. */

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	if (!list || !*list)
		return false;
	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* The names are separated by '+'. A name is the whole of a library's, or all before its first blank. */
bool library_is_named(const char *names, const char *api)
{
	for (const char *p = names; *p; p += *p == '+') {
		size_t n = strcspn(p, "+");
		if (api && strncasecmp(p, api, n) == 0 && (!api[n] || api[n] == ' '))
			return true;
		p += n;
	}
	return false;
}

bool algorithm_is_named(const char *name, const struct algorithm *a)
{
	return a->name && fnmatch(name, a->name, 0) == 0;
}

struct algorithms_named algorithms_named(const struct plan *p, const struct fusion *f,
	const struct results *results, const struct scenario *s)
{
	struct algorithms_named n = { 0, 0 };
	struct arena a = { 0 };
	struct hash seen = { 0 };
	int count, of;
	const char **texts = analyze_problems_in(&a, p, f, true, scenario_variants(s), &count);
	for (int i = 0; i < count; i++) {
		const struct result *const *all = results_of(results, texts[i], &of);
		for (int k = 0; k < of; k++) {
			const struct algorithm *one = &all[k]->algorithm;
			int64_t *at = one->name && one->name[0] ? hash_at(&seen, text_of(one->name)) : NULL;
			if (!at || *at >= 0)
				continue;
			*at = n.measured++;
			n.named += (!s->algorithm[0] || algorithm_is_named(s->algorithm, one)) &&
				(!s->libraries[0] || library_is_named(s->libraries, one->api));
		}
	}
	hash_free(&seen);
	arena_free(&a);
	return n;
}

bool is_nondeterministic(const struct result *r)
{
	return has_word(r->algorithm.notes, "nondeterministic");
}

bool ran_is_beside(const struct result *r)
{
	return problem_is_beside(r->problem) && strcmp(r->algorithm.api, "beside") == 0;
}

struct ran ran_of(const struct result *r, const char *libraries)
{
	const char *lines = r->kernels ? r->kernels : "";
	struct ran all = { .workspace_bytes = *lines ? 0 : NAN, .named = *lines };
	while (*lines) {
		struct beside_ran one;
		char api[SCENARIO_NAME_MAX], notes[128];
		bool good = beside_ran_next(&lines, &one);
		snprintf(api, sizeof(api), "%.*s", good ? (int)one.api.n : 0, one.api.p);
		snprintf(notes, sizeof(notes), "%.*s", good ? (int)one.notes.n : 0, one.notes.p);
		all.workspace_bytes += good ? one.workspace_bytes : NAN;
		all.random |= has_word(notes, "nondeterministic");
		all.named &= good && library_is_named(libraries, api);
	}
	return all;
}
