/* Variants: opens the plan and the results of each; the session goes on showing its own. */
#include "config.h"

#include "session/scenarios.h"
#include "session/session_private.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

struct variant session_variant(const struct session *s)
{
	return (struct variant){ .batch = session_batch(s), .dtype = session_dtype(s),
		.scenario = s->scenario, .matrix_given = s->matrix_given };
}

/* True if the plan has products of fewer bits than f32 and runs on a GPU. A described one has matrix units
 * for the types that its description gives a peak. */
static bool matrix_meant(const struct session *s, const struct seat *seat, const struct plan *p)
{
	const struct peaks *described = seat->described ? &seat->described->peaks : NULL;
	bool few = false;
	for (int i = 0; seat_on_gpu(s, seat) && i < p->problem_count && !few; i++) {
		struct problem one;
		problem_restore(p->problems[i].problem, &one);
		enum dtype type = one.operand[0].dtype;
		few = kernel_row(one.kernel)->product && dtype_bytes(type, 1) < 4 &&
			!(described && isnan(described->matrix_flops[type]));
	}
	return few;
}

bool session_matrix_meant(const struct session *s)
{
	return matrix_meant(s, s->seat, s->current->plan);
}

bool scenarios_say_matrix(const char *what_if)
{
	struct scenario off = scenario_default(), on = off;
	struct error err = ERROR_NONE;
	on.matrix = true;
	return what_if && !scenario_parse(&off, what_if, &err) && !scenario_parse(&on, what_if, &err) &&
		off.matrix == on.matrix;
}

/* ---- grounds ---- */

static struct ground ground_of(struct seat *seat, struct session_plan *sp)
{
	return (struct ground){ .plan = sp->plan,
		.fusion = plan_fusion(sp),
		.results = seat->results,
		.device = &seat->device,
		.peaks = peaks_known(&seat->peaks) ? &seat->peaks : NULL,
		.estimate = seat->described != NULL,
		.tried = &sp->tried,
		.assumed = sp->assumed_count ? sp->assumed : NULL };
}

struct ground session_ground(struct session *s)
{
	return ground_of(s->seat, s->current);
}

struct ground session_ground_shared(struct session *s)
{
	struct ground g = session_ground(s);
	bool fresh = s->analysis && !s->stale && results_version(s->seat->results) == s->seen_version;
	g.shared = fresh ? s->analyzer : NULL;
	return g;
}

struct variant_ground session_shown(struct session *s)
{
	return (struct variant_ground){ .on = session_ground(s), .scenario = s->scenario,
		.dtype = s->current->dtype, .session = s, .plan = s->current, .seat = s->seat };
}

int session_recorded_more(struct seat *seat, struct session_plan *sp,
	const struct scenario *with, struct error *err)
{
	if (!seat->recorded || !sp)
		return 0;
	struct arena a = { 0 };
	int count, peaks;
	const char **texts = analyze_problems_in(&a, sp->plan, plan_fusion(sp), true,
		PROBLEMS_NXC | PROBLEMS_PADDED, &count);
	const char **more = peaks_problems_of_all(&a, &peaks),
		**all = ARENA_ARRAY(&a, const char *, count + peaks);
	memcpy(all, texts, (size_t)count * sizeof(*all));
	memcpy(all + count, more, (size_t)peaks * sizeof(*all));
	count += peaks;
	int bad = recorded_load(seat->recorded, all, count, seat->results, err);
	if (!bad && with->parallel == PARALLEL_MEASURED) { /* they depend on the results of the others */
		struct ground ground = ground_of(seat, sp);
		texts = analyze_besides(&a, &ground, with, &count);
		bad = count ? recorded_load(seat->recorded, texts, count, seat->results, err) : 0;
	}
	arena_free(&a);
	return bad;
}

int variant_open(struct session *s, const struct variant *v, struct variant_ground *g, struct error *err)
{
	struct error trouble = ERROR_NONE;
	struct seat *seat = v->device ? seat_compared(s, v->device) : s->seat;
	*g = (struct variant_ground){ .session = s, .seat = seat, .scenario = v->scenario,
		.dtype = v->dtype };
	if (seat != s->seat && *seat->trouble)
		return error_set(err, "%s", seat->trouble);
	struct session_plan *sp = plan_get(s, s->subject, seat, v, err);
	if (!sp)
		return -1;
	if (plan_check_bound(s, sp->plan, err))
		return VARIANT_UNBOUND;
	if (session_recorded_more(seat, sp, &v->scenario, &trouble))
		log_line("%s", trouble.text);
	if (!v->matrix_given)
		g->scenario.matrix = matrix_meant(s, seat, sp->plan);
	if (seat != s->seat || !s->analysis)
		seat_renew_peaks(seat);
	g->on = ground_of(seat, sp);
	g->plan = sp;
	sp->held++;
	return 0;
}

void variant_close(struct variant_ground *g)
{
	if (g->plan)
		g->plan->held--;
	g->plan = NULL;
}

/* True if the session's analysis is of that ground. */
static bool is_shown(const struct session *s, const struct variant_ground *g)
{
	return s->analysis && !s->stale && g->plan == s->current && g->seat == s->seat &&
		results_version(s->seat->results) == s->seen_version &&
		scenario_equal(&g->scenario, &s->scenario);
}

const struct analysis *variant_analysis(const struct variant_ground *g, struct arena *a)
{
	return is_shown(g->session, g) ? g->session->analysis : analyze(a, &g->on, &g->scenario);
}
