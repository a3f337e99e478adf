/* Devices compared with the present one: what the session shows as a variant on each. */
#include "config.h"

#include "session/scenarios.h"
#include "session/session_private.h"

struct scenario_total session_beside_total(
	struct session *s, const struct session_device *d, struct arena *a)
{
	struct scenario_total t = { .point = SWEEP_POINT_UNKNOWN };
	struct variant v = session_variant(s);
	v.device = d;
	if (d->kind == SESSION_RUNNER) {
		t.elsewhere = true;
		t.why = "its runner is not started";
		return t;
	}
	t = scenarios_variant_total(s, &v, a);
	struct seat *seat = seat_compared(s, d);
	seat->counted_version = seat->planner ? planner_version(seat->planner) : 0;
	return t;
}

bool session_beside_step(struct session *s)
{
	bool changed = false;
	for (struct seat *seat = s->compared; seat; seat = seat->next)
		if (seat->planner) {
			planner_step(seat->planner, 0);
			changed |= planner_version(seat->planner) != seat->counted_version;
		}
	return changed;
}

bool session_beside_waits(const struct session *s)
{
	for (const struct seat *seat = s->compared; seat; seat = seat->next)
		if (seat->planner && !planner_is_idle(seat->planner))
			return true;
	return false;
}
