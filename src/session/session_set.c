/* What callers set. */
#include "config.h"

#include "session/session_private.h"

void session_use(struct session *s, const struct scenario *scenario)
{
	s->matrix_given |= scenario->matrix != s->scenario.matrix;
	s->scenario = *scenario;
	s->stale = true;
}

void session_choose_matrix(struct session *s)
{
	s->matrix_given = true;
}

bool session_matrix_chosen(const struct session *s)
{
	return s->matrix_given;
}

void session_effects_within(struct session *s, int ms)
{
	s->effects_ms = ms;
}

void session_exports_set(struct session *s, const struct session_export *table)
{
	s->exports = table;
}
