/* The table of states, and the state of a problem from its results and its place in the queue. */
#include "config.h"

#include "session/state.h"
#include "session/session_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct state_row rows[STATE_COUNT] = {
	[STATE_NONE] = { "", "", "", "nothing is recorded" },
	[STATE_OK] = { "ok", "ok", "", "measured" },
	[STATE_NOISY] = { "noisy", "disturbed", "shaky",
		"measured while other work disturbed the machine; the interval covers all samples" },
	[STATE_SUSPECT] = { "suspect", "mistrusted", "doubt",
		"faster than the measured peaks allow, or the output or time failed a check" },
	[STATE_STALE] = { "stale", "", "", "measured by another version of the runner" },
	[STATE_RUNNING] = { "run", "", "", "being measured" },
	[STATE_QUEUED] = { "queue", "", "", "waiting to be measured, with its position in the queue" },
	[STATE_UNSUPPORTED] = { "n/a", "unsupported", "unsup",
		"the library does not support it on this device" },
	[STATE_NO_MEMORY] = { "no mem", "no_memory", "", "it does not fit in memory" },
	[STATE_FAILED] = { "failed", "failed", "", "the library reported an error" },
	[STATE_CRASHED] = { "crash", "crashed", "", "the runner crashed on it" },
	[STATE_TIMEOUT] = { "timeout", "timeout", "late", "it exceeded the time limit" },
	[STATE_PROXY] = { "proxy", "proxy", "", "a proxy was measured instead: a copy of the same size" },
	[STATE_ESTIMATED] = { "estimate", "estimated", "guess",
		"not measured: an estimate is used instead" },
	[STATE_ASSUMED] = { "given", "assumed", "", "its cost is assumed: --assume, or = in the explorer" },
	[STATE_ROUGH] = { "rough", "rough", "",
		"measured quickly: one algorithm, few samples; the full measurement is still to come" },
	[STATE_FUSED] = { "fused", "fused", "", "part of a fused kernel, whose cost is in its first layer" },
	[STATE_FREE] = { "free", "free", "", "it needs no work at run time" },
	[STATE_FOLDED] = { "folded", "folded", "", "the what-if fold removes it" },
	[STATE_PART] = { "part", "", "",
		"only a part of its cost is known: a branch or a number of runs is unknown" },
	[STATE_BEGUN] = { "begun", "", "",
		"some of its algorithms are measured, but none that this scenario allows" },
	[STATE_MISSING] = { "-", "missing", "", "not measured" },
	[STATE_UNKNOWN] = { "?", "", "", "no problem is defined for it, so it cannot be measured" },
	[STATE_PLANNING] = { "planning", "", "asked", "the library is listing its algorithms" },
	[STATE_PLANNABLE] = { "plannable", "", "", "the library of the described device can run it" },
	[STATE_NO_PLAN] = { "no plan", "", "", "the library of the described device cannot run it" },
};

const struct state_row *state_row(enum state s)
{
	return &rows[s];
}

enum state state_of_status(enum status s)
{
	static const enum state states[STATUS_COUNT] = { [STATUS_OK] = STATE_OK,
		[STATUS_UNSUPPORTED] = STATE_UNSUPPORTED, [STATUS_NO_MEMORY] = STATE_NO_MEMORY,
		[STATUS_FAILED] = STATE_FAILED, [STATUS_CRASHED] = STATE_CRASHED,
		[STATUS_TIMEOUT] = STATE_TIMEOUT, [STATUS_MISTRUSTED] = STATE_SUSPECT };
	return states[s];
}

char *state_text(char *buf, enum state s, int position)
{
	if (s == STATE_QUEUED && position > 0)
		snprintf(buf, STATE_TEXT_SIZE, "queue %d", position);
	else
		snprintf(buf, STATE_TEXT_SIZE, "%s", rows[s].word);
	return buf;
}

static bool is_suspect(const struct session *s, const struct result *r)
{
	struct problem p;
	return r && peaks_known(&s->seat->peaks) && problem_parse(text_of(r->problem), &p, NULL) == 0 &&
		roofline_mistrusts(&p, &s->seat->peaks, r);
}

/* State from the results: OK if one has status ok, then refined by the result that the scenario uses. */
static enum state state_of_results(const struct session *s, const char *problem)
{
	int count, good = -1;
	const struct result *const *r = results_of(s->seat->results, problem, &count);
	for (int i = 0; i < count && good < 0; i++)
		good = r[i]->status == STATUS_OK ? i : good;
	if (good < 0)
		return count ? state_of_status(r[0]->status) : STATE_NONE;
	const struct result *used = s->analysis ?
		analyze_pick(s->analysis, s->seat->results, problem) : NULL;
	used = used ? used : r[good];
	const char *version = s->seat->device.version;
	bool stale = version && used->runner_version && strcmp(version, used->runner_version) != 0;
	return is_suspect(s, used) ? STATE_SUSPECT : used->stats.stop == STOP_DISTURBED ? STATE_NOISY :
		stale ? STATE_STALE : STATE_OK;
}

enum state session_problem_state(const struct session *s, const char *problem, int *position)
{
	const struct planned *planned = session_planned(s, problem);
	*position = 0;
	if (!problem)
		return STATE_NONE;
	if (planned)
		return planned->state == PLANNED_YES ? STATE_PLANNABLE :
			planned->state == PLANNED_NO ? STATE_NO_PLAN : STATE_PLANNING;
	enum job_state job = s->seat->queue ? queue_state(s->seat->queue, problem) : JOB_NONE;
	if (job == JOB_RUNNING)
		return STATE_RUNNING;
	if (job == JOB_PENDING) {
		*position = queue_position(s->seat->queue, problem);
		return STATE_QUEUED;
	}
	enum state known = state_of_results(s, problem);
	return known != STATE_NONE ? known : job == JOB_FAILED ? STATE_FAILED :
		job == JOB_UNSUPPORTED ? STATE_UNSUPPORTED : STATE_NONE;
}

enum state session_layer_state(const struct session *s, const struct plan_layer *l,
	const struct layer_cost *c, const char *problem, int *position)
{
	static const enum state states[ORIGIN_COUNT] = { [ORIGIN_MEASURED] = STATE_OK,
		[ORIGIN_PROXY] = STATE_PROXY, [ORIGIN_FREE] = STATE_FREE, [ORIGIN_FUSED] = STATE_FUSED,
		[ORIGIN_ESTIMATED] = STATE_ESTIMATED, [ORIGIN_ASSUMED] = STATE_ASSUMED,
		[ORIGIN_ROUGH] = STATE_ROUGH,
		[ORIGIN_UNSUPPORTED] = STATE_UNSUPPORTED, [ORIGIN_MISSING] = STATE_MISSING };
	enum state of_problem = session_problem_state(s, problem, position);
	bool settled = of_problem <= STATE_SUSPECT;
	if (c && c->origin == ORIGIN_ASSUMED)
		return STATE_ASSUMED;
	if (c && c->folded && of_problem != STATE_RUNNING && of_problem != STATE_QUEUED)
		return STATE_FOLDED;
	if (!c || !settled)
		return of_problem;
	if (c->at_least)
		return STATE_PART;
	if (c->mistrusted)
		return STATE_SUSPECT;
	if (c->result && c->noisy)
		return STATE_NOISY;
	if (c->origin != ORIGIN_MISSING && c->origin != ORIGIN_UNSUPPORTED)
		return states[c->origin];
	if (plan_layer_is_control(l) && !isnan(l->flops))
		return STATE_MISSING; /* its cost needs those of its bodies */
	if (of_problem == STATE_SUSPECT) /* all its results are */
		return STATE_SUSPECT;
	return l->problem < 0 ? STATE_UNKNOWN : of_problem != STATE_NONE ? STATE_BEGUN : states[c->origin];
}
