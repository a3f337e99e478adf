#include "config.h"

#include "analyze/analyze_private.h"

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

bool is_nondeterministic(const struct result *r)
{
	return has_word(r->algorithm.notes, "nondeterministic");
}

bool ran_is_beside(const struct result *r)
{
	return strncmp(r->problem, BESIDE_PREFIX, strlen(BESIDE_PREFIX)) == 0 &&
		strcmp(r->algorithm.api, "beside") == 0;
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
