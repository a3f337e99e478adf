#include "config.h"

#include "commands/reach.h"

#include <math.h>
#include <stdlib.h>

#include "session/session_advice.h"

#define BATCHES_MOST 11	  /* the tenth doubling is the last one */
#define LEAST_GROWTH 1.01 /* of the throughput by a doubling */

/* The lowest bound of the current plan after all advice; NaN if it has gaps. */
static double least(struct session *s, bool *estimated)
{
	struct arena a = { 0 };
	struct scenario from = session_config(s)->what_if ? *session_scenario(s) : session_unoptimized(s);
	struct advice_list list = session_advice(s, &a, &from, NAN);
	double ns = list.complete ? list.least_ns : NAN;
	*estimated = list.estimated;
	arena_free(&a);
	return ns;
}

/* Fills rows with the batches from the current plan's on, doubling, up to the first one that reaches the
 * target. A latency has one batch; a throughput ends where it stops growing. Returns the number of rows with
 * a complete bound. The current plan changes. */
static int climb(struct session *s, const struct advice_target *t, struct reach_row *rows)
{
	int64_t first = session_plan(s)->batch;
	enum dtype dtype = session_dtype(s);
	struct error err = ERROR_NONE;
	int count = 0;
	for (int64_t batch = first; count < BATCHES_MOST; batch *= 2) {
		struct reach_row *row = &rows[count];
		if (count && (session_select(s, batch, dtype, &err) || session_check_bound(s, &err)))
			break;
		session_plans_trim(s);
		session_refresh(s);
		*row = (struct reach_row){ .batch = session_plan(s)->batch };
		row->ns = least(s, &row->estimated);
		if (row->batch != batch || !(row->ns > 0))
			break;
		row->items_per_s = 1e9 * (double)(batch > 0 ? batch : 1) / row->ns;
		row->reached = row->ns <= t->ns;
		if (!isnan(t->items_per_s))
			row->reached = row->items_per_s >= t->items_per_s;
		count++;
		if (row->reached || isnan(t->items_per_s) || batch <= 0 ||
			(count > 1 && row->items_per_s < LEAST_GROWTH * row[-1].items_per_s))
			break;
	}
	return count;
}

/* Opens the model on another device: false if it has no complete bound there. */
static bool device_try(struct reach_row *row, const struct session *s, const struct options *o,
	const struct session_device *d, const struct advice_target *t)
{
	struct options other = *o;
	struct error err = ERROR_NONE;
	struct reach_row rows[BATCHES_MOST];
	int count = 0;
	other.config.device = d->key;
	other.quiet = true;
	struct session *there = options_session(&other, 0, SESSION_DB_READ, &err);
	if (!there)
		return false;
	if (session_connect(there, 0, &err) == 0 &&
		session_select(there, session_batch(s), session_dtype(s), &err) == 0 &&
		session_check_bound(there, &err) == 0)
		count = climb(there, t, rows);
	session_close(there);
	if (count) {
		*row = rows[count - 1];
		row->device = d->key;
		row->model = d->model;
	}
	return count > 0;
}

static int slower_first(const void *a, const void *b)
{
	const struct reach_row *x = a, *y = b;
	if (x->reached != y->reached)
		return x->reached - y->reached;
	return (x->items_per_s > y->items_per_s) - (x->items_per_s < y->items_per_s);
}

struct reach reach_find(
	struct session *s, const struct options *o, const struct advice_target *target, struct arena *a)
{
	struct reach r = { 0 };
	struct session_device *list;
	int64_t batch = session_batch(s);
	enum dtype dtype = session_dtype(s);
	struct error err = ERROR_NONE;
	int count = session_devices(s, a, &list, &err);
	r.devices = ARENA_ARRAY(a, struct reach_row, count);
	for (int i = 0; i < count; i++)
		if (list[i].kind != SESSION_RUNNER && !list[i].in_use)
			r.device_count += device_try(&r.devices[r.device_count], s, o, &list[i], target);
	qsort(r.devices, (size_t)r.device_count, sizeof(r.devices[0]), slower_first);
	if (isnan(target->items_per_s))
		return r;
	r.batches = ARENA_ARRAY(a, struct reach_row, BATCHES_MOST);
	r.batch_count = climb(s, target, r.batches);
	session_select(s, batch, dtype, &err);
	session_refresh(s);
	return r;
}
