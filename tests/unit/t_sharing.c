#include "config.h"

#include "analyze/tables/sharing.h"
#include "tap.h"

#include <math.h>

/* Similarity and cover of sets that are given as they are, by hand. */

static void put(struct sharing *s, int count, const struct shared_use *uses)
{
	VEC_GROW(s->models, s->model_count, s->model_capacity);
	struct shared_model *m = &s->models[s->model_count++];
	*m = (struct shared_model){ .use_count = count };
	m->uses = ARENA_ARRAY(&s->arena, struct shared_use, count);
	for (int i = 0; i < count; i++) {
		m->uses[i] = uses[i];
		s->problem_count = uses[i].problem >= s->problem_count ? uses[i].problem + 1 :
			s->problem_count;
	}
}

#define PUT(s, ...) \
	put((s), sizeof((struct shared_use[]){ __VA_ARGS__ }) / sizeof(struct shared_use), \
		(struct shared_use[]){ __VA_ARGS__ })

static void pairs(void)
{
	struct sharing s = { 0 };
	PUT(&s, { 0, 10, false }, { 1, 20, false }, { 2, NAN, false });
	PUT(&s, { 1, 5, true }, { 2, NAN, false }, { 3, 70, false });
	put(&s, 0, NULL);
	PUT(&s, { 2, NAN, false });
	struct shared_pair p = sharing_pair(&s, 0, 1);
	ok(p.common == 2 && p.unknown == 1 && p.estimated, "two in common, one without a time");
	near(p.jaccard, 0.5, 1e-12, "2 of 4 distinct layers");
	near(p.time_share, 5.0 / (10 + 20 + 70), 1e-12, "the time of the rest");
	p = sharing_pair(&s, 1, 0);
	near(p.time_share, 0.05, 1e-12, "either way round");
	p = sharing_pair(&s, 0, 0);
	ok(p.jaccard == 1 && p.time_share == 1, "with itself");
	p = sharing_pair(&s, 0, 2);
	ok(p.jaccard == 0 && p.time_share == 0 && p.common == 0, "with a model without layers");
	p = sharing_pair(&s, 2, 2);
	ok(isnan(p.jaccard) && isnan(p.time_share), "of two without layers: unknown");
	p = sharing_pair(&s, 3, 3);
	ok(p.jaccard == 1 && isnan(p.time_share), "without times: only by layers");
	sharing_free(&s);
}

static void covers(void)
{
	struct sharing s = { 0 };
	struct arena a = { 0 };
	int count;
	PUT(&s, { 0, 1, false }, { 1, 1, false }, { 2, 1, false });
	PUT(&s, { 0, 1, false }, { 1, 1, false }, { 2, 1, false }, { 3, 1, false });
	PUT(&s, { 4, 100, false });
	PUT(&s, { 5, NAN, false });
	struct shared_step *c = sharing_cover(&s, &a, false, 0.8, &count);
	ok(count == 2 && c[0].model == 1 && c[1].model == 2, "by layers: the largest, then what is new");
	near(c[0].share, 4.0 / 6, 1e-12, "4 of 6");
	near(c[1].share, 5.0 / 6, 1e-12, "5 of 6");
	sharing_cover(&s, &a, false, 1, &count);
	ok(count == 3, "all: without the model that adds nothing");
	c = sharing_cover(&s, &a, true, 0.9, &count);
	ok(count == 1 && c[0].model == 2, "by time: one model has most of it");
	near(c[0].share, 100.0 / 107, 1e-12, "of the time of all models");
	sharing_cover(&s, &a, true, 1, &count);
	ok(count == 2, "unknown times need no cover");
	sharing_free(&s);
	sharing_cover(&s, &a, true, 0.9, &count);
	ok(count == 0, "nothing covers nothing");
	arena_free(&a);
}

int main(void)
{
	pairs();
	covers();
	return done_testing();
}
