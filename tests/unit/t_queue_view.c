/* The view queue: order and words of jobs, its keys, the log beneath. */
#include "config.h"

#include "base/log.h"

#include "ui_help.h"

static const struct fixture_options busy = { .queue = true, .busy = true };

/* The row of the screen that contains a text; -1: none. */
static int line_of(const char *text)
{
	struct str out = { 0 };
	canvas_print(&app.stage->canvas, &out);
	const char *at = strstr(out.p, text);
	int line = at ? 0 : -1;
	for (const char *p = out.p; at && p < at; p++)
		line += *p == '\n';
	str_free(&out);
	return line;
}

static void test_rows(void)
{
	begin(&busy);
	type("gq");
	is_str(view_name(), "queue", "gq");
	ok(sees("1 running") && sees("2 waiting") && sees("20 done") && sees("1 n/a"),
		"counts of each state");
	is_int(line_of(" state    layer "), app_header_rows(&app), "headings");
	ok(sees(" took     result  job, or why it failed"), "of all columns");
	ok(line_of(" removed  peak ") > 0, "what a job is for that is no layer's");
	int running = line_of("gemm:jit"), waiting = line_of("queue 1"), done = line_of(" conv:f32");
	ok(running > 0 && waiting == running + 1 && line_of("queue 2") == waiting + 1 && done > waiting,
		"running, waiting in order, ended");
	ok(sees("out of") && sees("memory"), "the reason of a failure");
	ok(line_of("removed") > done, "removed ones last");
	type("&failed\r");
	is_int(app_pane(&app)->shown_count, 1, "a filter by state");
	press(KEY_CODE_ESC);
	type("/queue 2\r");
	int layer = app.layer;
	type("\r");
	ok(app_pane(&app)->view == &view_detail && app.layer == layer && layer >= 0,
		"Enter shows the layer");
	end();
	begin(&(struct fixture_options){ .queue = true });
	type("gq");
	ok(sees("no jobs yet: b measures"), "an empty queue says what to do");
	end();
	begin(&(struct fixture_options){ .described = true });
	type("gq");
	ok(sees("a described device measures nothing"), "no queue at all");
	end();
}

/* The load and the time left are in the header where that has the row for it, else beside the progress. */
static void test_left(void)
{
	static const int rows[] = { 24, 16 };
	for (int i = 0; i < 2; i++) {
		begin_at(&busy, 100, rows[i]);
		ok(!sees("load") && sees("0:07 left"), "%d rows: a quiet machine", rows[i]);
		app.load = 7.2;
		ok(sees("load 7.2  0:07 left"), "%d rows: other work runs on it", rows[i]);
		is_int(line_of("0:07 left") < 6, i == 0, "%d rows: the place", rows[i]);
		end();
	}
	begin(&(struct fixture_options){ .queue = true });
	app.load = 7.2;
	ok(!sees("load"), "only while it measures");
	end();
}

static void test_keys(void)
{
	begin(&busy);
	type("gq");
	type("X");
	ok(fixture_calls.dropped == 1 && sees("cancelled; its results so far are kept"), "X cancels");
	type("j");
	type("T");
	ok(fixture_calls.put_first == 0 && sees("it is the next job already"), "T on the first");
	type("jT");
	ok(fixture_calls.put_first == 1 && sees("it is the next job"), "T puts another one first");
	type("C");
	ok(fixture_calls.cleared == 1 && sees("2 jobs removed"), "C clears");
	type("jT");
	ok(fixture_calls.problem == 1 && sees("queued again"), "T measures an ended one again");
	type("X");
	ok(sees("it has ended already"), "which cannot be cancelled");
	end();
}

static void test_log(void)
{
	log_keep(20);
	begin(&busy);
	for (int i = 0; i < 30; i++)
		log_line("line %d of\033[31m the log", i);
	type("gq");
	ok(sees("line 29 of") && sees("log (. all of it)"), "the last lines beneath");
	is_int((int)log_count() - (int)log_first(), 20, "the last ones are kept");
	ok(!log_kept(9) && log_kept(10) && strstr(log_kept(10), "line 10 of"), "and no others");
	type(".");
	ok(app_pane(&app)->row_count == 20 && strcmp(view_name(), "messages") == 0, ". shows all of it");
	is_int(app_pane(&app)->cursor, 19, "at its end");
	type("gg/line 12\r");
	ok(sees("line 12 of"), "to be searched");
	press(KEY_CODE_ESC);
	is_str(view_name(), "queue", "and the jobs again");
	log_line("a long line of the log that does not fit on a narrow screen, since it says %s and %s",
		"what was measured", "why it took longer than expected");
	ok(sees("a long line of") && sees("than expected") && !sees("line 24 of"), "long ones are broken");
	end();
	log_keep(0);
	is_int((int)log_count(), 0, "nothing is kept any more");
}

/* A message that is cut stands in the view messages whole; its rows follow the width. */
static void test_messages(void)
{
	log_keep(20);
	begin_at(&busy, 80, 24);
	type("gl");
	ok(sees("[gl] Messages") && sees("no messages yet"), "gl");
	type(":view nowhere\r");
	ok(sees("unknown view \"nowhere\"; Tab after :view lists them"), "an answer in one row");
	type(":write x.zip\r");
	ok(sees("x.zip: end it in .txt .svg") && !sees(":messages"), "a short one is not cut");
	type("q");
	app_note(&app, true, "%0100d is %0100d the end", 1, 2);
	ok(sees(" :messages") && !sees("the end"), "a long one is cut, and says where it is whole");
	type(":messages\r");
	ok(sees("the end"), "there");
	struct pane *p = app_pane(&app);
	int rows = p->row_count;
	ok(rows > 4 && p->cursor < rows - 1, "the cursor is on its first row");
	type("k");
	ok(sees("x.zip: end") && p->cursor == 1, "rows of one message are passed over");
	canvas_resize(&app.stage->canvas, 200, 24);
	app_draw(&app);
	ok(app_pane(&app)->row_count < rows, "a wide screen needs fewer");
	for (int i = 0; i < 40; i++)
		app_note(&app, true, "message %d", i);
	ok(sees("message 39") && app_pane(&app)->row_count == 20, "old ones go");
	end();
	log_keep(0);
}

int main(void)
{
	test_messages();
	test_rows();
	test_keys();
	test_left();
	test_log();
	return done_testing();
}
