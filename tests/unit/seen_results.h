/* Keeps what a measurement emits, with copies of its texts: callbacks whose `user` is a struct seen. */
#ifndef SEEN_RESULTS_H
#define SEEN_RESULTS_H

#include <stdio.h>

#include "problem/result.h"
#include "problem/stats.h"

#define SEEN_MOST 64

struct seen {
	struct result results[SEEN_MOST];
	char why[SEEN_MOST][256], kernels[SEEN_MOST][256], notes[SEEN_MOST][64];
	int count;
	int cancel_after; /* questions; 0: never */
	int asked;
};

static bool seen_cancelled(void *user)
{
	struct seen *s = user;
	return s->cancel_after && ++s->asked > s->cancel_after;
}

static void seen_trying(void *user, const struct algorithm *a, enum cache c, enum launch l)
{
	(void)user;
	(void)a;
	(void)c;
	(void)l;
}

static void seen_emit(void *user, const struct result *r, const struct samples *samples)
{
	struct seen *s = user;
	(void)samples;
	if (s->count == SEEN_MOST)
		return;
	snprintf(s->why[s->count], sizeof(s->why[0]), "%s", r->why ? r->why : "");
	snprintf(s->notes[s->count], sizeof(s->notes[0]), "%s", r->algorithm.notes ? r->algorithm.notes : "");
	snprintf(s->kernels[s->count], sizeof(s->kernels[0]), "%s", r->kernels ? r->kernels : "");
	s->results[s->count] = *r;
	s->results[s->count].why = s->why[s->count];
	s->count++;
}

#endif
