/* Problems that depend on results, so the others must be measured first: conversions of layouts, and branches
 * side by side. */
#include "config.h"

#include "analyze/bound/bound_private.h"

#include <string.h>

/* The problems that layouts add to those of the plan and of fusion. */
static const char **conversion_texts(const struct study *st, struct arena *a, int *count)
{
	const char **texts = ARENA_ARRAY(a, const char *, st->distinct_count - st->common_count);
	*count = 0;
	for (int i = st->common_count; i < st->distinct_count; i++)
		texts[(*count)++] = arena_strndup(a, study_text(st, i), strlen(study_text(st, i)));
	return texts;
}

const char **analyze_conversions(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count)
{
	struct study st;
	if (g->shared)
		return conversion_texts(analyzer_study(g->shared, g, s->layouts), a, count);
	study_open(&st, g, s->layouts, true);
	const char **texts = conversion_texts(&st, a, count);
	study_close(&st);
	return texts;
}

const char **analyze_besides(
	struct arena *a, const struct ground *g, const struct scenario *s, int *count)
{
	struct study st;
	struct solution x;
	struct arena scratch = { 0 };
	struct scenario measured = *s;
	measured.parallel = PARALLEL_MEASURED;
	study_open(&st, g, s->layouts, s->fusion != FUSION_OFF);
	solve_total(&st, &measured, &scratch, &x);
	*count = x.besides->lacking_count;
	const char **texts = ARENA_ARRAY(a, const char *, *count);
	for (int i = 0; i < *count; i++)
		texts[i] = arena_strndup(a, x.besides->lacking[i], strlen(x.besides->lacking[i]));
	study_close(&st);
	arena_free(&scratch);
	return texts;
}
