/* Reads the words of a result: the libraries and names of its algorithms, one or several. */
#include "config.h"

#include "analyze/scenario/ran.h"

#include "problem/beside.h"
#include "problem/kernel.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

bool has_note(const struct algorithm *a, const char *word)
{
	return has_word(a->notes, word);
}

static bool is_kernel(const char *problem, enum kernel k)
{
	size_t n = strlen(kernel_name(k));
	return strncmp(problem, kernel_name(k), n) == 0 && problem[n] == ':';
}

bool matrix_possible(const char *problem, bool strict)
{
	for (int k = 0; k < KERNEL_COUNT; k++)
		if (kernel_row((enum kernel)k)->product && is_kernel(problem, (enum kernel)k))
			return !strict || strncmp(strchr(problem, ':'), ":f32", 4) != 0;
	return false;
}

bool is_strict(const struct result *r)
{
	const char *math = r->algorithm.math;
	return !math || !*math || strcmp(math, "strict") == 0;
}

/* True for branches side by side; their kernels say what ran (beside_ran_next). */
static bool ran_is_beside(const struct result *r)
{
	return problem_is_beside(r->problem) && strcmp(r->algorithm.api, "beside") == 0;
}

bool ran_any(const struct result *r, bool (*is)(const struct algorithm *a, const struct scenario *s),
	const struct scenario *s)
{
	const char *lines = r->kernels ? r->kernels : "";
	bool any = false;
	if (!ran_is_beside(r))
		return is(&r->algorithm, s);
	do {
		struct beside_ran one;
		char api[64], name[128], notes[128];
		bool good = beside_ran_next(&lines, &one);
		snprintf(api, sizeof(api), "%.*s", good ? (int)one.api.n : 0, one.api.p);
		snprintf(name, sizeof(name), "%.*s", good ? (int)one.name.n : 0, one.name.p);
		snprintf(notes, sizeof(notes), "%.*s", good ? (int)one.notes.n : 0, one.notes.p);
		any = is(&(struct algorithm){ .api = api, .name = name, .notes = notes }, s);
	} while (!any && *lines);
	return any;
}

double ran_workspace(const struct result *r)
{
	const char *lines = r->kernels ? r->kernels : "";
	double bytes = *lines ? 0 : NAN;
	if (!ran_is_beside(r))
		return r->algorithm.workspace_bytes;
	while (*lines) {
		struct beside_ran one;
		bytes += beside_ran_next(&lines, &one) ? one.workspace_bytes : NAN;
	}
	return bytes;
}
