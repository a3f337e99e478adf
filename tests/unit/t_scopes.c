/* Folding by scopes of the layers' names: keys, subtotals, searches and jumps that open folds. */
#include "config.h"

#include "session/session_private.h"

#include "ui_help.h"

#include <math.h>

static int shown(void)
{
	return app_pane(&app)->shown_count;
}

static int scope_named(const char *path)
{
	for (int i = 0; i < app.scopes.count; i++)
		if (strcmp(app.scopes.list[i].path, path) == 0)
			return i;
	return -1;
}

static void test_scopes(void)
{
	begin(&(struct fixture_options){ .measured = true });
	int outer = scope_named("layer1"), inner = scope_named("layer1.0");
	ok(outer >= 0 && inner >= 0 && scope_named("layer1.1") >= 0, "scopes of the names");
	is_int(app.scopes.count, 3, "and no others");
	is_int(app.scopes.list[inner].parent, outer, "one in another");
	is_int(app.scopes.list[outer].layers, 11, "with their layers");
	double ns = 0;
	for (int i = 0; i < app.listed_count; i++)
		if (strncmp(app_layer(&app, app.listed[i])->name.p, "layer1.0", 8) == 0)
			ns += app_cost_all(&app, app.listed[i]);
	const struct scope *s = scope_at(&app, inner);
	ok(fabs(s->ns - ns) < 1 && s->missing == 0 && scope_worst(&app, inner) == STATE_OK,
		"a subtotal without gaps");
	end();
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	s = scope_at(&app, scope_named("layer1"));
	ok(s->missing == 2 && s->ns > 0 && scope_worst(&app, scope_named("layer1")) == STATE_MISSING,
		"one with gaps knows them: %d",
		s->missing);
	type("zM");
	ok(sees("2 no cost") && sees("\u2265") && sees("11 layers"), "and says so");
	end();
	begin(&(struct fixture_options){ .measured = true, .disturbed = true });
	is_int((int)scope_worst(&app, scope_named("layer1.1")), STATE_NOISY, "the worst state");
	end();
	begin(&(struct fixture_options){ .measured = true, .chain = 9 });
	is_int(app.scopes.count, 0, "a scope of all layers is none");
	type("zc");
	ok(sees("nothing to hide here"), "nothing to fold");
	type("zM");
	ok(sees("the layers' names have no scopes"), "and zM says why");
	end();
}

static void test_keys(void)
{
	begin(&(struct fixture_options){ .measured = true });
	int all = shown();
	type("/layer1.0.conv2\rzc");
	is_int(shown(), all - 5, "zc closes the innermost scope");
	is_str(name(), "layer1.0.conv1", "its row is selected, and stands for its first layer");
	type("zc");
	is_int(shown(), all - 10, "zc closes the next one around it");
	ok(sees(">") && sees("\u25b8 layer1 ") && !sees("\u25b8 layer1.0"), "one row");
	type("V");
	is_int(app.picked_count, 11, "V marks all of its layers");
	type("kVkzo");
	ok(shown() == all - 5 && app.picked_count == 0, "zo opens one");
	type("za");
	is_int(shown(), all, "za opens a closed scope");
	type("za");
	is_int(shown(), all - 5, "and closes an open one");
	type("zR");
	is_int(shown(), all, "zR opens all");
	type("GzM");
	is_int(shown(), all - 10, "zM closes all");
	is_str(name(), "fc", "elsewhere the cursor stays");
	type("zR/layer1.1.add\rzM");
	is_str(name(), "layer1.0.conv1", "inside it moves to the fold");
	type("\r");
	ok(app_pane(&app)->view == &view_layers && shown() == all - 10 + 1, "Enter opens it");
	typed_key(&app, KEY_CODE_LEFT, now_ms);
	is_int((type(""), app_draw(&app), shown()), all - 10, "Left closes it");
	type("&op=Conv\r");
	int convs = shown();
	ok(convs == 6, "a filter looks into folds");
	type("zM");
	ok(shown() == convs && sees("scopes are open while a filter is set"), "which then do not fold");
	end();
}

static void test_opening(void)
{
	begin(&(struct fixture_options){ .measured = true });
	int all = shown();
	type("zM/layer1.1.add");
	is_int(shown(), all - 10, "a search that is being typed opens nothing");
	typed_key(&app, KEY_CODE_ESC, now_ms);
	is_str(name(), "conv1", "and Esc goes back");
	type("/layer1.1.add\r");
	is_str(name(), "layer1.1.add", "Enter is at the match");
	is_int(shown(), all - 5, "in the scope that it opened");
	type("zMgg/relu1\rn");
	is_str(name(), "layer1.1.relu1", "n opens them too");
	type("zM5gg");
	is_str(name(), "layer1.0.conv1", "the row of a fold");
	type("]s");
	is_str(name(), "layer1.0.conv2", "jumps start from its first layer");
	type("zMG\"zgg");
	type("/downsample\r\"azM'a");
	is_str(name(), "layer1.0.downsample", "and one to a mark");
	end();
	begin(&(struct fixture_options){ .queue = true, .busy = true });
	type("zMgg2]u");
	is_str(name(), "layer1.0.add", "]u finds what is in a fold");
	end();
}

static void test_sorted(void)
{
	begin(&(struct fixture_options){ .measured = true });
	type("zMs");
	is_str(name(), "layer1.0.conv1", "a closed scope is sorted by its subtotal");
	ok(sees("\u25b8 layer1"), "as one row");
	type("zo");
	is_int(shown(), app.listed_count - 9, "and opens there");
	end();
}

static void test_large(void)
{
	begin(&(struct fixture_options){ .measured = true, .chain = 2100, .scopes = true });
	is_int(shown(), 21, "a large model opens folded");
	ok(sees("2100 layers in closed scopes; zo opens one, zR all"), "and says so");
	type("zR");
	is_int(shown(), 2100, "zR");
	session->stale = true;
	app_refresh(&app);
	is_int(shown(), 2100, "and stays open");
	end();
}

static void test_control(void)
{
	begin(&(struct fixture_options){ .measured = true, .control = true });
	type("*");
	int all = shown();
	type("zMzR");
	is_int(shown(), all, "layers of bodies are unfolded as before");
	type("zM*zR");
	ok(shown() < all, "* closes the bodies");
	end();
}

int main(void)
{
	test_scopes();
	test_keys();
	test_opening();
	test_sorted();
	test_large();
	test_control();
	return done_testing();
}
