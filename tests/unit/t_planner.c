/* The planner against a runner that fails in every way. */
#include "config.h"

#include "drive/planner.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"

#define YES "eltwise:f32,f32:relu:1x64"
#define YES2 "eltwise:f32,f32:relu:2x64"
#define NO "eltwise:f32,f32:round:1x64"
#define CRASH "eltwise:f32,f32:tanh:1x64"
#define GARBAGE "eltwise:f32,f32:logarithm:1x64"
#define EXIT "eltwise:f32,f32:sqrt:1x64"
#define STRANGER "eltwise:f32,f32:abs:1x64"

static char fake[512];

static struct planner *open_with(const char *hello)
{
	const char *argv[] = { fake, NULL };
	setenv("FAKE_HELLO", hello, 1);
	return planner_new(argv);
}

static int run(struct planner *p)
{
	int answered = 0;
	time_t until = time(NULL) + 60;
	while (!planner_is_idle(p) && time(NULL) < until)
		answered += planner_step(p, 1000);
	return answered;
}

static void test_answers(void)
{
	struct planner *p = open_with("banner");
	ok(planner_of(p, YES)->state == PLANNED_NONE && planner_is_idle(p), "no request at first");
	ok(planner_step(p, 0) == 0 && planner_fd(p) == -1, "no runner is started without requests");
	planner_ask(p, YES);
	planner_ask(p, NO);
	planner_ask(p, YES);
	is_int(planner_open_count(p), 2, "a problem is requested once");
	ok(planner_of(p, YES)->state == PLANNED_ASKED, "requested");
	uint64_t before = planner_version(p);
	is_int(run(p), 2, "both have replies");
	ok(planner_version(p) != before, "the version changes");
	const struct planned *yes = planner_of(p, YES), *no = planner_of(p, NO);
	ok(yes->state == PLANNED_YES && yes->count == 2, "two algorithms");
	ok(strcmp(yes->algorithms[1].name, "slow") == 0 && yes->algorithms[1].rank == 1 &&
		yes->algorithms[1].matrix == MATRIX_YES && isnan(yes->algorithms[1].workspace_bytes),
		"with their properties, unknown ones unknown");
	for (int i = 0; i < 2; i++)
		ok(strcmp(yes->algorithms[i].api, "fake") == 0 &&
				strcmp(yes->algorithms[i].math, "strict") == 0 &&
				!*yes->algorithms[i].layouts && !*yes->algorithms[i].notes &&
				yes->algorithms[i].rank == i,
			"and their texts");
	ok(no->state == PLANNED_NO && no->count == 0 && strcmp(no->why, "no implementation") == 0,
		"the library's reason");
	ok(planner_device(p) && strcmp(planner_device(p)->model, "Fake CPU") == 0, "the device");
	/* the idle runner's heartbeat is read, or on its way and read then, and whoever polls rests */
	struct pollfd at = { .fd = planner_fd(p), .events = POLLIN };
	poll(&at, 1, 200);
	for (int i = 0; i < 20 && poll(&at, 1, 0); i++)
		planner_step(p, 0);
	is_int(poll(&at, 1, 0), 0, "an idle planner reads heartbeats");
	planner_free(p);
}

static void test_many(void)
{
	struct planner *p = open_with("");
	char text[64];
	for (int i = 1; i <= 1000; i++) {
		snprintf(text, sizeof(text), "eltwise:f32,f32:relu:%dx64", i);
		planner_ask(p, text);
	}
	is_int(run(p), 1000, "a thousand problems have replies");
	ok(planner_of(p, "eltwise:f32,f32:relu:1000x64")->count == 2, "the last one too");
	planner_free(p);
}

static void test_deaths(void)
{
	static const char *const deadly[] = { CRASH, GARBAGE, EXIT };
	for (int i = 0; i < 3; i++) {
		struct planner *p = open_with("");
		planner_ask(p, YES);
		planner_ask(p, deadly[i]);
		planner_ask(p, YES2);
		is_int(run(p), 3, "%s: all are answered", deadly[i]);
		ok(planner_of(p, deadly[i])->state == PLANNED_NO && planner_of(p, deadly[i])->why[0],
			"the one that killed the runner has that as its reason (%s)",
			planner_of(p, deadly[i])->why);
		ok(planner_of(p, YES)->state == PLANNED_YES && planner_of(p, YES2)->state == PLANNED_YES,
			"the other problems have replies");
		planner_free(p);
	}
}

/* Deaths count in a row: a reply between them starts the count again. */
static void test_deaths_in_a_row(void)
{
	struct planner *p = open_with("");
	char text[8][64];
	ok(!planner_device(p) && !planner_trouble(p)[0], "no device and no trouble at first");
	for (int i = 0; i < 8; i++) {
		snprintf(text[i], sizeof(text[i]), "eltwise:f32,f32:%s:%dx64", i % 4 == 3 ? "relu" : "tanh",
			i + 1);
		planner_ask(p, text[i]);
	}
	is_int(run(p), 8, "three deaths, a reply, three deaths, a reply");
	is_str(planner_trouble(p), "", "the runner is not given up");
	for (int i = 0; i < 8; i++) {
		is_int(planner_of(p, text[i])->state, i % 4 == 3 ? PLANNED_YES : PLANNED_NO, "problem %d", i);
		ok((planner_of(p, text[i])->why[0] == '\0') == (i % 4 == 3), "with a reason or without");
	}
	ok(planner_device(p) && planner_open_count(p) == 0, "the device stays known");
	uint64_t version = planner_version(p);
	is_int(planner_step(p, 0), 0, "nothing is left");
	ok(planner_version(p) == version, "the version stays");
	planner_free(p);

	p = open_with("");
	for (int i = 0; i < 5; i++) {
		snprintf(text[i], sizeof(text[i]), "eltwise:f32,f32:tanh:%dx64", i + 1);
		planner_ask(p, text[i]);
	}
	planner_ask(p, YES);
	version = planner_version(p);
	is_int(run(p), 6, "five deaths");
	ok(strstr(planner_trouble(p), "Segmentation fault") != NULL, "after four the runner is given up");
	is_int(planner_of(p, YES)->state, PLANNED_NO, "the rest is not asked");
	is_str(planner_of(p, YES)->why, planner_trouble(p), "for that reason");
	is_int(planner_version(p) - version, 6 + 1, "each answer and the device is a new version");
	is_int(planner_step(p, 0), 0, "no runner is started any more");
	is_int(planner_fd(p), -1, "none is up");
	planner_free(p);
}

static void test_strangers(void)
{
	struct planner *p = open_with("");
	planner_ask(p, STRANGER);
	planner_ask(p, YES);
	is_int(run(p), 2, "replies with unknown ids are ignored");
	ok(planner_of(p, STRANGER)->count == 0 && planner_of(p, YES)->count == 2, "they are not counted");
	planner_free(p);
}

static void test_no_problems(void)
{
	setenv("FAKE_JOBS", "model", 1);
	struct planner *p = open_with("");
	planner_ask(p, YES);
	is_int(run(p), 1, "a runner that answers no problems");
	ok(planner_of(p, YES)->state == PLANNED_NO && planner_fd(p) == -1, "is not used");
	is_str(planner_trouble(p), "the runner answers no problems, only: model. Install a newer runner",
		"with the reason");
	planner_free(p);
	setenv("FAKE_JOBS", "none", 1);
	p = open_with("");
	planner_ask(p, YES);
	is_int(run(p), 1, "a runner from before the kinds of jobs");
	ok(planner_of(p, YES)->state == PLANNED_YES, "answers");
	planner_free(p);
	unsetenv("FAKE_JOBS");
}

static void test_hopeless(void)
{
	struct planner *p = open_with("exit");
	planner_ask(p, YES);
	planner_ask(p, NO);
	is_int(run(p), 2, "all requests fail if the runner cannot start");
	ok(planner_of(p, YES)->state == PLANNED_NO && strstr(planner_of(p, YES)->why, "libdnnl"),
		"with what it said (%s)", planner_of(p, YES)->why);
	ok(planner_trouble(p)[0], "planner_trouble has the reason");
	planner_ask(p, YES2);
	ok(planner_is_idle(p) && planner_of(p, YES2)->state == PLANNED_NO, "later requests fail at once");
	planner_free(p);

	const char *argv[] = { "/nonexistent/runner", NULL };
	p = planner_new(argv);
	planner_ask(p, YES);
	is_int(run(p), 1, "no such program");
	ok(strstr(planner_of(p, YES)->why, "/nonexistent/runner"), "is named (%s)", planner_of(p, YES)->why);
	planner_free(p);

	p = open_with("");
	char text[64];
	for (int i = 1; i <= 8; i++) {
		snprintf(text, sizeof(text), "eltwise:f32,f32:tanh:%dx64", i);
		planner_ask(p, text);
	}
	is_int(run(p), 8, "a runner that dies on every request is not restarted");
	ok(planner_trouble(p)[0], "planner_trouble has the reason");
	planner_free(p);
}

int main(void)
{
	const char *builddir = getenv("builddir");
	snprintf(fake, sizeof(fake), "%s/tests/unit/fake_runner", builddir ? builddir : ".");
	test_answers();
	test_many();
	test_deaths();
	test_deaths_in_a_row();
	test_strangers();
	test_no_problems();
	test_hopeless();
	return done_testing();
}
