/* Named scenarios: those of the configuration (config_scenario) on the model of a session. */
#ifndef SESSION_SCENARIOS_H
#define SESSION_SCENARIOS_H

#include "analyze/tables/sweep.h"
#include "session/variant.h"

/* What a scenario sets that the command line sets too. */
enum { SCENARIO_BATCH = 1, SCENARIO_DTYPE = 2, SCENARIO_DEVICE = 4 };

/* Replaces the names of scenarios in c->what_if by their what-ifs, and sets batch, data type and device of
 * the last scenario that has them, but for those in `given`. The dimensions of all named scenarios are
 * returned in *dims (in c's arena; a later value of a name comes later). -1 with err: an item is empty, is
 * neither a what-if nor a scenario, or is a what-if that the list has already. */
int scenarios_apply(
	struct config *c, unsigned given, struct dim_binding **dims, int *count, struct error *err);

/* -1 with err, which names file and line: the configuration has an unknown what-if, or a scenario with the
 * name of a what-if. */
int scenarios_check(const struct config *c, struct error *err);

/* What-ifs as for -w, with the choice of every one, so that they do not depend on defaults. In the arena. */
const char *scenarios_what_ifs(const struct scenario *s, struct arena *a);
/* Of the present scenario, for another type, batch or device: without `matrix` unless the user chose it. */
const char *session_what_ifs(const struct session *s, struct arena *a);
/* True if a list of what-ifs (NULL: none) chooses matrix, on or off. */
bool scenarios_say_matrix(const char *what_if);
/* A copy of what the session shows now: what-ifs, batch, data type, device, dimensions. In the arena; without
 * a name. */
struct config_scenario scenarios_present(const struct session *s, struct arena *a);
/* The what-ifs of a scenario, on those that the program begins with. */
int scenarios_what_ifs_of(const struct session *s, const struct config_scenario *one, struct scenario *out,
	struct error *err);
/* True if the session shows that scenario now. */
bool scenarios_is_present(const struct session *s, const struct config_scenario *one);

/* "algorithm=nosuch* fits no algorithm; 26 are measured", if that is so of the names in the present scenario,
 * in the arena; else NULL. */
const char *scenarios_names_miss(const struct session *s, struct arena *a);

/* The total of a scenario on the session's model and device. */
struct scenario_total {
	struct sweep_point point;
	int unmeasured;	 /* distinct problems without a result */
	int without;     /* layers without a cost */
	const char *why; /* why there is no total: "on h100", "sequence 512"; NULL: the total is known */
	bool elsewhere;	 /* it has another device or other dimensions: only switching tells */
};
/* The session stays as it is, but for a plan that it keeps. On a described device the first call asks its
 * planner, and a later one has the answers. `why` is in the arena. */
struct scenario_total scenarios_total(struct session *s, const struct config_scenario *one, struct arena *a);
struct scenario_total scenarios_variant_total(struct session *s, const struct variant *v, struct arena *a);
/* The total of the present scenario, batch, type and dimensions on another device, recorded or described,
 * whose results then stay loaded. A runner that is not in use has no total (why). Of a described device only
 * session_beside_step gets the planner's answers: true if some came since its total was taken. */
struct scenario_total session_beside_total(
	struct session *s, const struct session_device *d, struct arena *a);
bool session_beside_step(struct session *s);
bool session_beside_waits(const struct session *s); /* a planner has not answered all */
/* Shows a scenario: what-ifs, dimensions, batch and data type, not the device. -1: one of them is not
 * possible; what was set before it stays. */
int scenarios_take(struct session *s, const struct config_scenario *one, struct error *err);

#endif
