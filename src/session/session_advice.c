#include "config.h"

#include "session/session_advice.h"

#include "base/log.h"

struct scenario session_unoptimized(struct session *s)
{
	struct arena a = { 0 };
	struct ground g = session_ground(s);
	struct scenario isolated = { 0 };
	bool complete = !s->described && analyze(&a, &g, &isolated)->complete;
	arena_free(&a);
	return (struct scenario){ .amortized = !complete };
}

/* Adds the plan of the current model and batch in a type; nothing if it has none. */
static int plan_add(struct session *s, struct advice_plan *plans, int count, enum dtype dtype)
{
	const struct session_plan *base = s->current;
	struct error err = ERROR_NONE;
	if (session_select(s, base->batch, dtype, &err) || session_check_bound(s, &err)) {
		log_line("no advice for %s: %s", dtype_name(dtype), err.text);
	} else {
		session_refresh(s); /* reads recorded results */
		plans[count].dtype = dtype_name(dtype);
		plans[count++].on = session_ground(s);
	}
	session_select(s, base->batch, base->dtype, &err);
	return count;
}

struct advice_list session_advice(
	struct session *s, struct arena *a, const struct scenario *start, double target_ns)
{
	struct advice_plan plans[3];
	int count = plan_add(s, plans, 0, s->current->dtype);
	if (count && s->current->dtype == DTYPE_F32) {
		count = plan_add(s, plans, count, DTYPE_F16);
		count = plan_add(s, plans, count, DTYPE_BF16);
	}
	session_refresh(s);
	for (int i = 0; i < count; i++)
		plans[i].on.results = s->results;
	return advice_find(a, plans, count, start, target_ns);
}
