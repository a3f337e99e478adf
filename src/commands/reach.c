/* Tries described devices and doubled batches, each with all advice, until one reaches the target. */
#include "config.h"

#include "commands/reach.h"

#include <math.h>
#include <stdlib.h>

#include "session/session_advice.h"

#define BATCHES_MOST 11	  /* the tenth doubling is the last one */
#define LEAST_GROWTH 1.01 /* of the throughput by a doubling */

/* The lowest bound of a variant after all advice: false if it has none. */
static bool row_find(struct session *s, const struct variant *v, struct reach_row *row)
{
	struct arena a = { 0 };
	struct variant_ground g;
	struct error err = ERROR_NONE;
	*row = (struct reach_row){ .ns = NAN };
	if (variant_open(s, v, &g, &err) == 0) {
		struct scenario from =
			session_config(s)->what_if ? g.scenario : session_unoptimized_of(&g);
		struct advice_list list = session_advice_of(s, &a, v, &from, NAN);
		row->batch = g.on.plan->batch;
		row->ns = list.complete ? list.least_ns : NAN;
		row->estimated = list.estimated;
	}
	variant_close(&g);
	session_plans_trim(s);
	arena_free(&a);
	return row->ns > 0;
}

/* Fills rows with the batches from the variant's on, doubling, up to the first one that reaches the target. A
 * latency has one batch; a throughput ends where it stops growing. Returns the number of rows with a complete
 * bound. */
static int climb(
	struct session *s, struct variant v, const struct advice_target *t, struct reach_row *rows)
{
	int count = 0;
	while (count < BATCHES_MOST) {
		struct reach_row *row = &rows[count];
		if (!row_find(s, &v, row) || (count && row->batch != v.batch))
			break;
		row->items_per_s = 1e9 * (double)(row->batch > 0 ? row->batch : 1) / row->ns;
		row->reached = row->ns <= t->ns;
		if (!isnan(t->items_per_s))
			row->reached = row->items_per_s >= t->items_per_s;
		count++;
		if (row->reached || isnan(t->items_per_s) || row->batch <= 0 ||
			(count > 1 && row->items_per_s < LEAST_GROWTH * row[-1].items_per_s))
			break;
		v.batch = row->batch * 2;
	}
	return count;
}

static int slower_first(const void *a, const void *b)
{
	const struct reach_row *x = a, *y = b;
	if (x->reached != y->reached)
		return x->reached - y->reached;
	return (x->items_per_s > y->items_per_s) - (x->items_per_s < y->items_per_s);
}

struct reach reach_find(struct session *s, const struct advice_target *target, struct arena *a)
{
	struct reach r = { 0 };
	struct session_device *list;
	struct reach_row rows[BATCHES_MOST];
	struct error err = ERROR_NONE;
	int count = session_devices(s, a, &list, &err);
	r.devices = ARENA_ARRAY(a, struct reach_row, count);
	for (int i = 0; i < count; i++) {
		struct variant v = session_variant(s);
		v.device = &list[i];
		int found = list[i].kind == SESSION_RUNNER || list[i].in_use ? 0 : climb(s, v, target, rows);
		if (!found)
			continue;
		rows[found - 1].device = list[i].key;
		rows[found - 1].model = list[i].model;
		r.devices[r.device_count++] = rows[found - 1];
	}
	qsort(r.devices, (size_t)r.device_count, sizeof(r.devices[0]), slower_first);
	if (isnan(target->items_per_s))
		return r;
	r.batches = ARENA_ARRAY(a, struct reach_row, BATCHES_MOST);
	r.batch_count = climb(s, session_variant(s), target, r.batches);
	return r;
}
