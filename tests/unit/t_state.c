#include "config.h"

#include "session/glossary.h"
#include "session/session_private.h"
#include "session/state.h"
#include "make_plan.h"
#include "tap.h"

#include <math.h>
#include <strings.h>

/* One word a state, and the glossary. */

#define RELU "eltwise:f32,f32:relu:1000x1000"

static void words(void)
{
	bool unique = true, complete = true;
	for (int i = 0; i < STATE_COUNT; i++) {
		complete &= state_row((enum state)i)->text && *state_row((enum state)i)->text;
		for (int k = 0; k < i; k++)
			unique &= strcasecmp(state_row((enum state)i)->word,
					  state_row((enum state)k)->word) != 0;
	}
	ok(unique && complete, "%d states, each with a word of its own and a sentence", STATE_COUNT);
	is_str(state_row(state_of_status(STATUS_UNSUPPORTED))->word, "n/a", "unsupported is n/a");
	is_str(state_row(state_of_status(STATUS_TIMEOUT))->word, "timeout", "timeout");
	is_str(state_row(state_of_status(STATUS_MISTRUSTED))->word, "suspect", "mistrusted is suspect");
	for (int i = 0; i < STATUS_COUNT; i++)
		is_str(state_row(state_of_status((enum status)i))->stored, status_name((enum status)i),
			"the stored name");
	char buf[STATE_TEXT_SIZE];
	is_str(state_text(buf, STATE_QUEUED, 3), "queue 3", "a place in the queue");
	is_str(state_text(buf, STATE_TIMEOUT, 0), "timeout", "no place");
}

static void of_problems(void)
{
	struct seat seat = { .results = results_new(), .peaks = peaks_unknown() };
	struct session s = { .seat = &seat, .scenario = scenario_default() };
	struct result r = make_result(RELU, 1000);
	int position;
	ok(session_problem_state(&s, NULL, &position) == STATE_NONE, "no problem, no state");
	ok(session_problem_state(&s, RELU, &position) == STATE_NONE, "nothing recorded");
	results_put(seat.results, &r);
	ok(session_problem_state(&s, RELU, &position) == STATE_OK && position == 0, "measured");
	struct layer_cost c = { .ns = 1000, .origin = ORIGIN_MEASURED, .result = &r };
	struct plan_layer l = { .problem = 0 };
	ok(session_layer_state(&s, &l, &c, RELU, &position) == STATE_OK, "so is its layer");
	r.stats.stop = STOP_DISTURBED;
	r.runner_version = "2"; /* else the better one stays */
	r.measured_at++;
	results_put(seat.results, &r);
	c.noisy = true;
	ok(session_problem_state(&s, RELU, &position) == STATE_NOISY, "noisy as a problem");
	ok(session_layer_state(&s, &l, &c, RELU, &position) == STATE_NOISY, "... and as a layer");
	seat.peaks.bandwidth_bytes_s = 1e12;
	seat.peaks.level_count = 1;
	seat.peaks.level[0] = (struct peak_level){ 2, 1e3, 2e12, false };
	ok(session_problem_state(&s, RELU, &position) == STATE_SUSPECT,
		"faster than the peaks allow: suspect");
	c.origin = ORIGIN_FUSED;
	c.result = NULL;
	ok(session_layer_state(&s, &l, &c, NULL, &position) == STATE_FUSED, "fused");
	c.origin = ORIGIN_FREE;
	c.folded = true;
	ok(session_layer_state(&s, &l, &c, RELU, &position) == STATE_FOLDED, "removed by the what-if fold");
	c.folded = false;
	c.origin = ORIGIN_MISSING;
	c.ns = NAN;
	ok(session_layer_state(&s, &l, &c, "copy:u8,u8:b5", &position) == STATE_MISSING, "not measured");
	ok(session_layer_state(&s, &l, &c, RELU, &position) == STATE_SUSPECT, "all its results are suspect");
	seat.peaks = peaks_unknown();
	ok(session_layer_state(&s, &l, &c, RELU, &position) == STATE_BEGUN,
		"results, but none for this scenario: begun");
	c.at_least = true;
	ok(session_layer_state(&s, &l, &c, NULL, &position) == STATE_PART,
		"the number of runs is unknown: part");
	c.at_least = false;
	l.problem = -1;
	ok(session_layer_state(&s, &l, &c, NULL, &position) == STATE_UNKNOWN, "no problem to measure");
	results_free(seat.results);
}

static void terms(void)
{
	static const char *const needed[] = { "net", "warm", "amortized", "isolated", "interval", "noisy",
		"suspect", "proxy", "distinct", "left out", "choice", "mtx", "n", "bound", "ideal",
		"scenario", "what-if" };
	int count;
	const struct glossary_row *rows = glossary_table(&count);
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		int at = 0;
		while (at < count && strcmp(rows[at].term, needed[i]) != 0)
			at++;
		ok(at < count, "%s is defined", needed[i]);
	}
	bool sorted = true, whole = true;
	for (int i = 0; i < count; i++) {
		sorted &= i == 0 || strcasecmp(rows[i - 1].term, rows[i].term) < 0;
		size_t n = strlen(rows[i].text);
		whole &= n > 20 && (rows[i].text[n - 1] == '.');
	}
	ok(sorted && whole, "%d terms in alphabetical order, each with a sentence", count);
	struct str page = { 0 };
	glossary_man(&page);
	ok(strstr(page.p, "Lower bound of the model") && strstr(page.p, "n/a") &&
			strstr(page.p, "(in JSON: disturbed)"),
		"the page has terms and states");
	str_free(&page);
}

int main(void)
{
	words();
	of_problems();
	terms();
	return done_testing();
}
