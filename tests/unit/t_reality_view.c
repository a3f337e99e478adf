/* The view reality: gaps that add up, folding, what to do without an execution; devices side by side. */
#include "config.h"

#include "ui/model/real.h"

#include "ui_help.h"

#include <math.h>
#include <stdlib.h>

static const struct fixture_options real = { .measured = true, .real = true };

static int shown(void)
{
	return app_pane(&app)->shown_count;
}

static void test_gaps(void)
{
	begin(&real);
	const struct reality *y = app_reality(&app);
	double sum = 0;
	for (int k = 0; k < GAP_COUNT; k++)
		sum += isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
	ok(fabs(y->bound_ns + sum - y->measured_ns) < 1, "the gaps add up");
	type("ge");
	is_str(view_name(), "reality", "ge");
	ok(sees("mostly slower algorithms"), "the answer in one line");
	ok(sees(" bound ") && sees("real latency"), "the two ends");
	ok(sees("slower algorithms") && sees("faster than bound"), "gaps of both signs");
	int rows = shown();
	type("\r");
	ok(shown() > rows, "Enter opens the largest gap to its layers");
	type("j\r");
	ok(app_pane(&app)->view == &view_detail && app.layer >= 0, "and a layer to its details");
	press(KEY_CODE_ESC);
	is_str(view_name(), "reality", "Esc comes back");
	type("zc");
	is_int(shown(), rows, "zc inside closes the gap");
	type("zR");
	int all = shown();
	ok(all > rows, "zR opens all");
	type("zM");
	is_int(shown(), rows, "zM closes all but the model");
	type("/maxpool\r");
	ok(app.layer >= 0 && strcmp(name(), "maxpool") == 0 && shown() > rows,
		"a search opens what it finds");
	end();
}

static void test_tree(void)
{
	begin_at(&real, 80, 40);
	type("ge");
	int rows = shown();
	type("/model\rzc");
	ok(shown() < rows, "the model of the tree closes");
	type("za");
	is_int(shown(), rows, "and opens");
	ok(sees("ratio") && sees("0.67"), "with numbers: reality takes 1.5 times the bound");
	end();
}

/* Causes besides algorithms. */
static void test_doubt(void)
{
	begin_at(&(struct fixture_options){ .measured = true, .real = true, .real_noisy = true }, 120, 40);
	type("ge");
	ok(sees("mostly slower algorithms? (") && sees("other work disturbed its samples"), "noise");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .real = true, .real_slow = true }, 120, 40);
	type("ge");
	ok(sees("profile: rows take ") && sees("more than the median latency: a profiled run takes "),
		"rows that exceed the latency");
	ok(sees("slower algorithms?") && !sees("mostly slower algorithms ("), "leave a doubt");
	end();
}

/* Several executions: the key goes through them, everywhere. */
static void test_several(void)
{
	begin_at(&(struct fixture_options){ .measured = true, .real = true, .real_two = true }, 120, 40);
	double newest = app_reality(&app)->measured_ns;
	type("ge");
	ok(sees("onnxruntime 1.32.0  1 of 2: . shows the next"), "the newest is shown");
	type(".");
	ok(sees("openvino 2025.3  2 of 2") && sees("execution 2 of 2: openvino"), "the next one");
	ok(app_reality(&app)->measured_ns > newest, "is that of the header too");
	ok(sees("added reorders"), "with its own gaps");
	ok(sees("start: import 812 ms, load 310 ms") && sees("p99 "), "and what else it has");
	ok(sees("settings: NUM_STREAMS=2, x=?[31m"), "clean");
	type("/added reorders\r");
	int rows = shown();
	type("\r");
	ok(shown() > rows && sees("layout conversions that the framework added") &&
		sees("Reorder  reorder_a_to_b"), "a gap without layers opens to its rows");
	type("zc");
	type(".");
	ok(sees("onnxruntime 1.32.0  1 of 2"), "and the first again");
	type("2.");
	ok(sees("openvino 2025.3  2 of 2"), "2.: the second");
	type("7.");
	ok(sees("there are only 2 executions"), "no seventh");
	end();
	begin(&real);
	type("ge.");
	ok(sees("this is the only execution"), "one alone");
	type("/unexplained\r");
	int before = shown();
	type("\r");
	ok(shown() > before && sees("it has no rows of its own"),
		"a gap without rows says what it is");
	end();
}

/* Where no framework can run, the key says why, and is not offered. */
static void test_described(void)
{
	begin_at(&(struct fixture_options){ .described = true, .agents = true }, 160, 40);
	ok(!sees("real latency"), "not offered on a described device");
	type("e");
	ok(sees("n/a: h100 is a described device, no framework runs on it"), "and why");
	end();
	begin_at(&(struct fixture_options){ .measured = true, .agents = true, .queue = true }, 160, 40);
	ok(sees("e real latency"), "elsewhere it is");
	end();
}

static void test_none(void)
{
	begin(&(struct fixture_options){ .measured = true, .agents = true });
	type("ge");
	ok(sees("no real execution of this model") && sees("e runs it with near"), "the key that makes one");
	end();
	begin(&(struct fixture_options){ .measured = true });
	type("ge");
	ok(sees("agents: in benanza.yaml(5)"), "or the command");
	type("zRzMzo\r");
	is_str(view_name(), "reality", "keys without rows");
	end();
}

static void test_sizes(void)
{
	for (int columns = 40; columns < 230; columns += 17)
		for (int rows = 10; rows < 60; rows += 11) {
			begin_at(&real, columns, rows);
			type("gezRGgggq");
			end();
		}
	ok(true, "all sizes are drawn");
}

/* ---- devices side by side ---- */

static void test_devices(void)
{
	begin_at(&(struct fixture_options){ .measured = true, .queue = true, .chain = 7 }, 120, 30);
	type("D/h100\rV");
	ok(sees("h100 is marked; 1 marked") && app.beside.count == 1, "V marks a device");
	type("/H200\rV/far\rV");
	is_int(app.beside.count, 3, "three are marked");
	type("gs");
	ok(sees("present") && sees("~1.00 ms") && sees("NVIDIA H100"), "a row for each, estimates marked");
	ok(sees(">=2.00 ms") && sees("3 unmeasured") && sees("unknown"), "gaps are said");
	ok(sees("its runner is not started"), "and why there is nothing");
	ok(sees("to the present") && sees("~-"), "differences, marked too");
	type("/h100\r.");
	ok(sees("to h100") && sees("~+"), ". compares with another row");
	type("X");
	ok(app.beside.count == 2 && !sees("NVIDIA H100"), "X removes the mark");
	type("D/H200\rV");
	is_int(app.beside.count, 1, "V again removes it too");
	type(":beside h100\r");
	ok(app.beside.count == 2 && sees("h100 is marked; 2 marked"), ":beside marks by name");
	type(":beside 0\r");
	ok(app.beside.count == 2 && sees("\"0\" could be several devices: "), "one that is not clear");
	type(":beside zzzzzz\r");
	ok(sees("unknown device \"zzzzzz\"; :view devices lists them"), "and one that there is not");
	end();
}

/* ---- saved scenarios ---- */

static void test_saved(void)
{
	char path[] = "/tmp/t_reality_view.XXXXXX";
	begin(&(struct fixture_options){ .measured = true });
	setenv("XDG_DATA_HOME", mkdtemp(path), 1);
	type("gssmine\r");
	ok(sees("saved: -w mine") && session_given(session)->scenario_count == 1, "a saved scenario");
	type("/mine\r");
	press(KEY_CODE_F1 + 1);
	type("other\r");
	is_str(session_given(session)->scenarios[0].name, "other", "F2 gives it another name");
	type("X");
	ok(sees("delete the scenario other? y/n"), "X asks");
	type("n");
	is_int(session_given(session)->scenario_count, 1, "n keeps it");
	type("Xy");
	ok(session_given(session)->scenario_count == 0 && sees("other is deleted"), "y deletes it");
	end();
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
	begin(&(struct fixture_options){ .measured = true, .scenarios = true });
	type("gs/fused\rX");
	ok(sees("fused is in the configuration: change it there"), "those of the user's file stay");
	end();
}

int main(void)
{
	test_gaps();
	test_tree();
	test_none();
	test_doubt();
	test_several();
	test_described();
	test_sizes();
	test_devices();
	test_saved();
	return done_testing();
}
