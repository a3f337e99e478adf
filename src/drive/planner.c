/* A few requests are open at a time. After a crash of the runner the one that it worked on fails, and the
 * others are sent again. */
#include "config.h"

#include "drive/planner.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"

#define WINDOW 64          /* requests sent and not replied to */
#define DEATHS_MAX 4       /* in a row; then the runner is not restarted */
#define HELLO_LIMIT_MS 30000
#define SILENCE_LIMIT_MS 60000 /* heartbeats arrive also during run-time compilation */
#define MESSAGES_A_STEP 5000
#define ALGORITHMS_MAX 4096 /* per problem; further ones are ignored */

/* A request and its reply. */
struct question {
	struct planned answer;
	const char *problem;
	int capacity;
	struct algorithm *algorithms;
};

struct planner {
	const char **argv;
	struct runner_process *process;
	struct device device;
	bool known;                  /* device is set */
	struct arena arena;
	struct hash by_problem, texts; /* texts: those of the replies */
	int count, capacity;
	struct question **questions; /* in the order of the requests; id = index + 1 */
	int answered_until;          /* all before this index have a reply */
	int sent_until;              /* all before this index were sent to the present runner, or have a
					reply */
	int open;
	int deaths;                  /* in a row */
	int64_t started_ms;
	uint64_t version;
	bool broken;
	char trouble[ERROR_TEXT_SIZE];
};

struct planner *planner_new(const char *const *argv)
{
	struct planner *p = base_calloc(1, sizeof(*p));
	int n = 0;
	while (argv[n])
		n++;
	p->argv = ARENA_ARRAY(&p->arena, const char *, n + 1);
	for (int i = 0; i < n; i++)
		p->argv[i] = arena_strndup(&p->arena, argv[i], strlen(argv[i]));
	p->argv[n] = NULL;
	return p;
}

void planner_free(struct planner *p)
{
	if (!p)
		return;
	if (p->process) /* do not wait for open requests */
		runner_process_stop_within(p->process, p->open ? 0 : 500, 200);
	for (int i = 0; i < p->count; i++) {
		free(p->questions[i]->algorithms);
		free(p->questions[i]);
	}
	free(p->questions);
	hash_free(&p->by_problem);
	hash_free(&p->texts);
	arena_free(&p->arena);
	free(p);
}

static struct question *question_find(const struct planner *p, const char *problem)
{
	int64_t i = hash_find(&p->by_problem, text_of(problem));
	return i < 0 ? NULL : p->questions[i];
}

/* Completes a request: PLANNED_YES if it has algorithms. */
/* A copy of a text; equal texts have one. NULL counts as "". */
static const char *text_once(struct planner *p, const char *text)
{
	struct text known = text_of(text ? text : "");
	if (!known.n)
		return "";
	if (hash_find(&p->texts, known) < 0)
		*hash_at(&p->texts, (struct text){ arena_strndup(&p->arena, known.p, known.n), known.n }) = 1;
	return hash_key(&p->texts, known).p;
}

static void question_end(struct planner *p, struct question *q, const char *why)
{
	if (q->answer.state != PLANNED_ASKED)
		return;
	q->answer.state = q->answer.count ? PLANNED_YES : PLANNED_NO;
	if (q->answer.count) /* many have few: no room is kept for more */
		q->algorithms = base_realloc(q->algorithms, (size_t)q->answer.count * sizeof(*q->algorithms));
	q->answer.algorithms = q->algorithms;
	q->answer.why = text_once(p, why);
	p->open--;
	p->version++;
	while (p->answered_until < p->count && p->questions[p->answered_until]->answer.state != PLANNED_ASKED)
		p->answered_until++;
	if (p->sent_until < p->answered_until)
		p->sent_until = p->answered_until;
}

static void planner_give_up(struct planner *p, const char *why)
{
	p->broken = true;
	snprintf(p->trouble, sizeof(p->trouble), "%s", why);
	log_line("planning: %s", why);
	for (int i = p->answered_until; i < p->count; i++)
		question_end(p, p->questions[i], why);
}

void planner_ask(struct planner *p, const char *problem)
{
	if (question_find(p, problem))
		return;
	struct question *q = base_calloc(1, sizeof(*q));
	q->problem = arena_strndup(&p->arena, problem, strlen(problem));
	q->answer = (struct planned){ .state = PLANNED_ASKED, .why = "" };
	VEC_GROW(p->questions, p->count, p->capacity);
	*hash_at(&p->by_problem, text_of(q->problem)) = p->count;
	p->questions[p->count++] = q;
	p->open++;
	if (p->broken)
		question_end(p, q, p->trouble);
}

/* --- the runner --- */

/* The runner has ended: its current request (the oldest one open) fails, the other sent ones are sent again.
 * A runner that died before its hello is not restarted. */
static void planner_lose(struct planner *p, struct error *err)
{
	bool greeted = runner_process_device(p->process) != NULL;
	runner_process_kill(p->process);
	p->process = NULL;
	if (greeted && p->answered_until < p->sent_until)
		question_end(p, p->questions[p->answered_until], err->text);
	p->sent_until = p->answered_until;
	if (!greeted || ++p->deaths >= DEATHS_MAX)
		planner_give_up(p, err->text);
}

static void planner_start(struct planner *p)
{
	struct error err = ERROR_NONE;
	p->process = runner_process_start(p->argv, NULL, &err);
	p->started_ms = clock_ms();
	if (!p->process)
		planner_give_up(p, err.text);
}

static void planner_send(struct planner *p)
{
	struct error err = ERROR_NONE;
	while (p->sent_until < p->count && p->sent_until - p->answered_until < WINDOW) {
		struct wire_message ask = { .type = WIRE_ALGORITHMS, .id = p->sent_until + 1,
			.problem = p->questions[p->sent_until]->problem, .what = "" };
		if (p->questions[p->sent_until]->answer.state == PLANNED_ASKED &&
			runner_process_send(p->process, &ask, &err)) {
			planner_lose(p, &err);
			return;
		}
		p->sent_until++;
	}
}

static struct algorithm algorithm_once(struct planner *p, const struct algorithm *from)
{
	struct algorithm to = *from;
	const char **texts[] = { &to.api, &to.name, &to.layouts, &to.math, &to.notes };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = text_once(p, *texts[i]);
	return to;
}

static void planner_take(struct planner *p, const struct wire_message *m)
{
	struct question *q = m->id >= 1 && m->id <= p->count ? p->questions[m->id - 1] : NULL;
	if (m->type == WIRE_LOG)
		log_line("planner: %s", m->what);
	if (!q || q->answer.state != PLANNED_ASKED)
		return;
	if (m->type == WIRE_ALGORITHM && q->answer.count < ALGORITHMS_MAX) {
		VEC_GROW(q->algorithms, q->answer.count, q->capacity);
		q->algorithms[q->answer.count++] = algorithm_once(p, &m->algorithm);
	} else if (m->type == WIRE_DONE) {
		p->deaths = 0;
		question_end(p, q, m->what);
	}
}

/* True, with err, if the runner sent no hello in time or nothing for too long. */
static bool planner_is_late(const struct planner *p, struct error *err)
{
	if (!runner_process_device(p->process)) {
		if (clock_ms() - p->started_ms < HELLO_LIMIT_MS)
			return false;
		runner_process_no_hello(p->process, HELLO_LIMIT_MS / 1000.0, err);
		return true;
	}
	if (!p->open || runner_process_silence_ms(p->process) < SILENCE_LIMIT_MS)
		return false;
	error_set(err, "the runner did not respond for %d s; it was killed", SILENCE_LIMIT_MS / 1000);
	return true;
}

static void planner_read(struct planner *p)
{
	struct error err = ERROR_NONE;
	for (int n = 0; n < MESSAGES_A_STEP && p->process; n++) {
		struct wire_message m;
		int got = runner_process_read(p->process, &m, &err);
		const struct device *d = got >= 0 ? runner_process_device(p->process) : NULL;
		if (d && !jobs_contain(d->jobs, JOB_PROBLEM)) {
			error_set(&err, "the runner answers no problems, only: %s. Install a newer runner",
				d->jobs);
			if (got > 0)
				wire_free(&m);
			runner_process_kill(p->process);
			p->process = NULL;
			planner_give_up(p, err.text);
			return;
		}
		if (d && !p->known) {
			p->device = device_copy(&p->arena, d);
			p->known = true;
			p->version++;
		}
		if (got < 0)
			planner_lose(p, &err);
		else if (got == 0 && planner_is_late(p, &err))
			planner_lose(p, &err);
		if (got <= 0)
			return;
		planner_take(p, &m);
		wire_free(&m);
	}
}

int planner_step(struct planner *p, int timeout_ms)
{
	int before = p->open;
	if (p->broken || (!p->open && !p->process))
		return 0;
	if (!p->open)
		timeout_ms = 0; /* still read heartbeats, or a caller that polls would spin */
	if (!p->process)
		planner_start(p);
	if (p->process)
		planner_send(p);
	if (p->process) {
		struct pollfd at = { .fd = runner_process_fd(p->process), .events = POLLIN };
		poll(&at, 1, timeout_ms);
		planner_read(p);
	}
	if (p->process)
		planner_send(p);
	return before - p->open;
}

/* --- answers --- */

bool planner_is_idle(const struct planner *p)
{
	return p->open == 0;
}

int planner_open_count(const struct planner *p)
{
	return p->open;
}

int planner_fd(const struct planner *p)
{
	return p->process ? runner_process_fd(p->process) : -1;
}

const struct device *planner_device(const struct planner *p)
{
	return p->known ? &p->device : NULL;
}

const char *planner_trouble(const struct planner *p)
{
	return p->trouble;
}

uint64_t planner_version(const struct planner *p)
{
	return p->version;
}

const struct planned *planner_of(const struct planner *p, const char *problem)
{
	static const struct planned none = { .state = PLANNED_NONE, .why = "" };
	const struct question *q = question_find(p, problem);
	return q ? &q->answer : &none;
}
