/* Whole screens, compared with tests/screens. GENERATE=1 writes them again: read the difference before
 * committing. */
#include "config.h"

#include "ui/frame/frame.h"

#include "tap.h"
#include "ui_fixture.h"

#include <stdlib.h>

enum { STYLES = 1, SVG };

static const struct screen {
	const char *name;
	int columns, rows;
	const char *view, *keys;
	bool ascii;
	int printed; /* false: as text */
	struct fixture_options options;
} screens[] = {
	{ "layers_80x24", 80, 24, NULL, "", false, false, { .queue = true, .busy = true } },
	{ "layers_80x24_styles", 80, 24, NULL, "j", false, STYLES, { .queue = true, .busy = true } },
	{ "layers_80x24_svg", 80, 24, NULL, "j", false, SVG, { .queue = true, .busy = true } },
	{ "layers_80x24_ascii", 80, 24, NULL, "", true, false, { .queue = true, .busy = true } },
	{ "layers_120x40", 120, 40, NULL, "j j", false, false, { .queue = true, .busy = true } },
	{ "layers_160x50", 160, 50, NULL, "/ layer1.1 Enter", false, false, { .measured = true } },
	{ "layers_40x10", 40, 10, NULL, "", false, false, { .measured = true } },
	{ "layers_60x16", 60, 16, NULL, "G", false, false, { .measured = true } },
	{ "too_small", 39, 9, NULL, "", false, false, { .measured = true } },
	{ "fused_80x24", 80, 24, NULL, "f", false, false, { .measured = true } },
	{ "parallel_80x24", 80, 24, NULL, "p", false, false, { .measured = true } },
	{ "sorted_80x24", 80, 24, NULL, "s", false, false, { .measured = true } },
	{ "filtered_80x24", 80, 24, NULL, "& conv Enter", false, false, { .measured = true } },
	{ "searching_80x24", 80, 24, NULL, "/ gate", false, false, { .measured = true } },
	{ "unmeasured_80x24", 80, 24, NULL, "G", false, false, { .queue = true } },
	{ "detail_80x24", 80, 24, NULL, "Enter", false, false, { .measured = true } },
	{ "detail_times_80x24", 80, 24, NULL, "Enter", false, false,
		{ .measured = true, .several_times = true } },
	{ "detail_100x60", 100, 60, "detail", "f", false, false, { .measured = true } },
	{ "detail_hostile", 80, 30, NULL, "/ red Enter Enter", false, false,
		{ .queue = true, .busy = true } },
	{ "problems_80x24", 80, 24, "problems", "j", false, false, { .queue = true, .busy = true } },
	{ "what_if_120x30", 120, 30, "what-if", "", false, false, { .measured = true } },
	{ "what_if_80x24", 80, 24, "what-if", "G", false, false, { .queue = true, .unbound = true } },
	{ "assumed_80x24", 80, 24, NULL, "= 2 x Enter", false, false, { .measured = true } },
	{ "assuming_80x24", 80, 24, NULL, "j =", false, false, { .measured = true } },
	{ "help_80x24", 80, 24, NULL, "?", false, false, { .measured = true } },
	{ "planned_80x24", 80, 24, NULL, "", false, false, { .described = true } },
	{ "planned_problems_80x24", 80, 24, "problems", "", false, false, { .described = true } },
	{ "planned_detail_80x24", 80, 24, NULL, "Enter", false, false, { .described = true } },
	{ "planned_120x40", 120, 40, NULL, "", false, false, { .described = true } },
	{ "planned_layout_120x40", 120, 40, NULL, "o", false, false, { .described = true } },
	{ "planned_measure_80x24", 80, 24, NULL, "b", false, false, { .described = true } },
	{ "devices_80x24", 80, 24, "devices", "", false, false, { .queue = true } },
	{ "devices_120x40", 120, 40, "devices", "G", false, false, { .described = true } },
	{ "advice_80x24", 80, 24, "advice", "", false, false, { .measured = true } },
	{ "advice_taken_120x40", 120, 40, "advice", "Enter", false, false, { .measured = true } },
	{ "advice_planned_200x60", 200, 60, "advice", "a", false, false, { .described = true } },
	{ "advice_unmeasured_40x10", 40, 10, "advice", "", false, false, { .queue = true } },
	{ "scenarios_80x24", 80, 24, "scenarios", "j", false, false,
		{ .measured = true, .scenarios = true } },
	{ "scenarios_120x40", 120, 40, "scenarios", "j j Enter", false, false,
		{ .measured = true, .scenarios = true } },
	{ "scenarios_save_80x24_ascii", 80, 24, "scenarios", "s m i n e", true, false,
		{ .queue = true, .scenarios = true } },
	{ "groups_80x24", 80, 24, "groups", "", false, false, { .measured = true } },
	{ "groups_class_120x40", 120, 40, "groups", ". .", false, false, { .described = true } },
	{ "algorithms_80x24", 80, 24, "algorithms", "", false, false, { .measured = true } },
	{ "algorithms_120x40", 120, 40, "algorithms", "> > >", false, false, { .measured = true } },
	{ "algorithms_planned_120x40", 120, 40, "algorithms", "", false, false, { .described = true } },
	{ "sweep_80x24", 80, 24, "sweep", "j", false, false, { .described = true } },
	{ "sweep_120x40", 120, 40, "sweep", "", false, false, { .measured = true, .sweep = true } },
	{ "doctor_80x24", 80, 24, "doctor", "", false, false, { .queue = true } },
	{ "devices_chosen_80x24", 80, 24, NULL, "D / h100 Enter Enter 1", false, false, { .queue = true } },
	{ "devices_80x24_ascii", 80, 24, NULL, "D k", true, false, { .described = true } },
	{ "control_80x24", 80, 24, NULL, "", false, false, { .measured = true, .control = true } },
	{ "control_open_80x24", 80, 24, NULL, "* j j j j", false, false,
		{ .measured = true, .control = true } },
	{ "control_open_80x24_ascii", 80, 24, NULL, "/ steps Enter Right", true, false,
		{ .queue = true, .control = true } },
	{ "control_detail_80x24", 80, 24, NULL, "/ choose Enter Enter", false, false,
		{ .measured = true, .control = true } },
	{ "control_detail_100x40", 100, 40, NULL, "/ maybe Enter Enter", false, false,
		{ .measured = true, .control = true } },
	{ "control_inner_80x24", 80, 24, NULL, "/ steps Enter Right j Enter", false, false,
		{ .measured = true, .control = true } },
	{ "control_problems_80x24", 80, 24, "problems", "", false, false,
		{ .measured = true, .control = true } },
	{ "real_80x24", 80, 24, NULL, "j", false, false, { .measured = true, .real = true, .chain = 7 } },
	{ "real_40x10", 40, 10, NULL, "", false, false, { .measured = true, .real = true, .chain = 7 } },
	{ "real_noisy_80x24", 80, 24, NULL, "& contradicted Enter", false, false,
		{ .measured = true, .real = true, .real_noisy = true } },
	{ "real_busy_80x24", 80, 24, NULL, "", false, false,
		{ .queue = true, .busy = true, .real = true } },
	{ "real_detail_80x24", 80, 24, NULL, "/ maxpool Enter Enter", false, false,
		{ .measured = true, .real = true } },
	{ "real_figures_80x24", 80, 24, "what-if", "G", false, false, { .measured = true, .real = true } },
	{ "real_120x40", 120, 40, NULL, "j j", false, false, { .measured = true, .real = true } },
	{ "real_fused_160x50", 160, 50, NULL, "S", false, false, { .measured = true, .real = true } },
	{ "real_200x60", 200, 60, NULL, "j j", false, false,
		{ .measured = true, .real = true, .chain = 7 } },
	{ "roofline_80x24", 80, 24, "roofline", "j", false, false, { .measured = true, .peaks = true } },
	{ "roofline_120x40", 120, 40, "roofline", "g l", false, false, { .measured = true, .peaks = true } },
	{ "roofline_80x24_ascii", 80, 24, "roofline", "n", true, false, { .measured = true, .peaks = true } },
	{ "roofline_planned_200x60", 200, 60, "roofline", "", false, false, { .described = true } },
	{ "roofline_40x10", 40, 10, "roofline", "", false, false, { .queue = true, .busy = true } },
	{ "timeline_80x24", 80, 24, "timeline", "p + + j", false, false, { .measured = true } },
	{ "timeline_120x40", 120, 40, "timeline", "l l", false, false, { .measured = true } },
	{ "timeline_80x24_ascii", 80, 24, "timeline", "p + j", true, false, { .measured = true } },
	{ "distribution_80x24", 80, 24, "distribution", "j", false, false, { .measured = true } },
	{ "distribution_120x40", 120, 40, "distribution", "l +", false, false, { .measured = true } },
	{ "distribution_80x24_ascii", 80, 24, "distribution", "", true, false, { .measured = true } },
	{ "map_80x24", 80, 24, "map", "l l", false, false, { .measured = true } },
	{ "map_120x40", 120, 40, "map", "G", false, false, { .measured = true, .chain = 400 } },
	{ "map_80x24_ascii", 80, 24, "map", "l", true, false, { .queue = true, .busy = true } },
	{ "graph_80x24", 80, 24, "graph", "j j j j", false, false, { .measured = true } },
	{ "graph_120x40", 120, 40, "graph", "4j", false, false, { .measured = true } },
	{ "graph_80x24_ascii", 80, 24, "graph", "5j l", true, false, { .queue = true, .busy = true } },
	{ "folded_80x24", 80, 24, NULL, "zM", false, false, { .queue = true, .busy = true } },
	{ "folded_80x24_ascii", 80, 24, NULL, "/ layer1.0 Enter zc V", true, false,
		{ .queue = true, .busy = true } },
	{ "folded_120x40", 120, 40, NULL, "zM / downsample Enter", false, false, { .measured = true } },
	{ "folded_40x10", 40, 10, NULL, "zM", false, false, { .measured = true } },
	{ "columns_100x30", 100, 30, NULL, "| |", false, false, { .measured = true } },
	{ "columns_gain_120x30_ascii", 120, 30, NULL, "| | | zM s s s s s s", true, false,
		{ .measured = true } },
	{ "columns_200x60", 200, 60, NULL, "", false, false, { .measured = true } },
	{ "terms_80x24", 80, 24, NULL, "& cost>1ms Space stat:ok", false, false, { .measured = true } },
	{ "queue_80x24", 80, 24, "queue", "j", false, false, { .queue = true, .busy = true } },
	{ "queue_120x40_ascii", 120, 40, "queue", "", true, false, { .queue = true, .busy = true } },
	{ "queue_40x10", 40, 10, "queue", "", false, false, { .queue = true, .busy = true } },
	{ "queue_none_80x24", 80, 24, "queue", "", false, false, { .described = true } },
	{ "reality_80x24", 80, 24, "reality", "", false, false, { .measured = true, .real = true } },
	{ "reality_120x40", 120, 40, "reality", "Enter", false, false, { .measured = true, .real = true } },
	{ "reality_80x24_ascii", 80, 24, "reality", "G", true, false,
		{ .queue = true, .busy = true, .real = true } },
	{ "reality_none_40x10", 40, 10, "reality", "", false, false, { .measured = true, .agents = true } },
	{ "scenarios_devices_120x40", 120, 40, "devices", "/ h100 Enter V / H200 Enter V gs j .", false,
		false, { .measured = true, .queue = true, .scenarios = true } },
	{ "dims_80x24", 80, 24, NULL, "d 1 2 8", false, false, { .queue = true, .unbound = true } },
	{ "dims_40x10_ascii", 40, 10, NULL, "d 1 2 8 Tab", true, false, { .queue = true, .unbound = true } },
	{ "unbound_80x24", 80, 24, NULL, "", false, false, { .queue = true, .unbound = true } },
	{ "unbound_40x10", 40, 10, NULL, "", false, false, { .queue = true, .unbound = true } },
	{ "dims_120x40", 120, 40, NULL, "d 4 Tab", false, false, { .queue = true } },
};

static char *frame(const struct screen *c)
{
	struct session *s = fixture_open(&c->options);
	struct str out = { 0 };
	if (c->printed == STYLES) {
		struct app app;
		app_init(&app, s, c->columns, c->rows, c->ascii);
		app_draw(&app);
		for (const char *k = c->keys; *k; k++)
			app_key(&app, (uint32_t)*k);
		app_draw(&app);
		canvas_print_styles(&app.stage->canvas, &out);
		app_free(&app);
	} else {
		struct error err = ERROR_NONE;
		size_t n;
		FILE *f = open_memstream(&out.p, &n);
		ok(app_frame(s, c->columns, c->rows, c->view, c->keys, c->ascii, c->printed == SVG, f,
			   &err) == 0,
			"%s is drawn", c->name);
		fclose(f);
	}
	fixture_close(s);
	return out.p;
}

static bool is_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x80)
			return false;
	return true;
}

static bool is_clean(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 && *s != '\n')
			return false;
	return true;
}

int main(void)
{
	views_register();
	const char *top = getenv("abs_srcdir") ? getenv("abs_srcdir") : ".";
	bool generate = getenv("GENERATE") != NULL;
	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
		const struct screen *c = &screens[i];
		char path[512];
		snprintf(path, sizeof(path), "%s/tests/screens/%s.screen", top, c->name);
		char *got = frame(c), *again = frame(c);
		is_str(again, got, "%s: the same twice", c->name);
		ok(is_clean(got), "%s: no control character", c->name);
		ok(!c->ascii || is_ascii(got), "%s: ASCII where asked", c->name);
		if (generate) {
			FILE *f = fopen(path, "wb");
			if (f) {
				fputs(got, f);
				fclose(f);
			}
		}
		char *want = fixture_read(path);
		ok(want && strcmp(got, want) == 0, "%s: as in tests/screens", c->name);
		if (!want || strcmp(got, want) != 0)
			printf("# got\n%s# want\n%s", got, want ? want : "(no such file)\n");
		free(want);
		free(got);
		free(again);
	}
	return done_testing();
}
