/* The steps of the tour, and the box that says what to press. */
#include "config.h"

#include "ui/frame/tour.h"

#include "ui/frame/frame.h"
#include "ui/model/page.h"

#include <stdio.h>
#include <string.h>

#define WIDTH_MOST 100 /* columns of the box */
#define LINES_MOST 16  /* of its text */

static const struct tour_step steps[] = {
	{ "The answer is on top",
		"The bound is the time that the library's fastest kernels need for all layers. The lines "
		"after it say how much is measured, how far to trust it, and the saving of each what-if. A "
		"row is a layer, the lanes beside it are the graph. Open the details of the "
		"selected layer.",
		"open", NULL, "layers" },
	{ "One layer",
		"Its cost and interval, its limit, the saving of fusion with its neighbours, and the "
		"problem that was measured for it. Compare the library's algorithms for it.",
		"algorithms", NULL, "detail" },
	{ "Algorithms",
		"A row is an algorithm, compared with the fastest one and the library's first choice. "
		"Now a question: on which layers does fusion save most? {gains} and the key of a what-if "
		"shows them.",
		"gains", "fusion", "algorithms" },
	{ "Gains by layer",
		"The layers on which fusion saves most are on top ({sort} sorts by the next column, "
		"{reverse} reverses). Switch fusion on: the new bound appears at once, because fused "
		"kernels are measured, too.",
		"fusion", NULL, "layers" },
	{ "What if",
		"The bound fell, and the line of what-ifs shows the saving of fusion. Each what-if has a "
		"key there; all can be combined. What should be done first?",
		"advice", NULL, "layers" },
	{ "Advice",
		"Changes, ranked by their saving after those above; below, how to make each in ONNX "
		"Runtime, TensorRT and PyTorch. {advice.target} asks for a latency to reach. Which peaks "
		"limit the layers?",
		"roofline", NULL, "advice" },
	{ "Roofline",
		"A dot is a problem, a line a measured peak: dots near a line cannot become much faster "
		"on this machine. Independent layers could run at the same time: switch that on.",
		"parallel", NULL, "roofline" },
	{ "Parallel layers",
		"The bound is now that of the longest path, or of the busiest resource. See the schedule.",
		"timeline", NULL, "roofline" },
	{ "Timeline",
		"Filled bars are on the critical path; dots are slack: a faster layer would not help there. "
		"{timeline.zoom-in} zooms in. Next, the costs in groups.",
		"groups", NULL, "timeline" },
	{ "Groups",
		"Costs by operator; {groups.next-grouping} groups by scope, class, or what limits the "
		"layers. Open a group: its layers, the costliest first.",
		"open", NULL, "groups" },
	{ "Search and filter",
		"{search} searches, {filter} filters: cost>1ms, bound:memory, state:noisy. {back} shows "
		"all layers again. The header also shows the real latency of ONNX Runtime on this machine. "
		"Why is it slower than the bound?",
		"reality", NULL, "layers" },
	{ "Reality",
		"The difference from the bound in parts, and the layers behind each of them. {agent} runs "
		"your own model with a framework. What would another machine do?",
		"devices", NULL, "reality" },
	{ "Devices",
		"{open} switches to another device: GPUs that you do not have are described by vendors' "
		"figures, and their costs are estimates, marked ~. All keys are on the help screen.",
		"help", NULL, "devices" },
	{ "The end",
		"benanza MODEL.onnx opens your model, {measure} measures it, {command} takes commands: "
		":write x.html saves a report. {search} searches this help. Nothing of this tour was "
		"stored.",
		"close", NULL, "help" },
};
#define STEP_COUNT ((int)(sizeof(steps) / sizeof(*steps)))

const struct tour_step *tour_step(int number)
{
	return number >= 0 && number < STEP_COUNT ? &steps[number] : NULL;
}

const char *tour_keys(const struct tour_step *step, struct key_pair *keys, char *buf)
{
	const char *key = key_named(step->key);
	snprintf(buf, TOUR_KEYS, "%s%s", key, step->with ? key_named(step->with) : "");
	*keys = keys_parse(text_of(buf));
	return buf;
}

/* ---- the box */

static int box_width(const struct app *app)
{
	int width = app->stage->canvas.width;
	return width < WIDTH_MOST ? width : WIDTH_MOST;
}

void tour_text(const struct tour_step *step, struct str *out)
{
	keys_spell(out, step->text);
}

/* The lines of the step's text. Returns their number, at most LINES_MOST. */
static int text_lines(struct app *app, struct text lines[LINES_MOST])
{
	struct str plain = { 0 };
	int count = 0, room = box_width(app) - 4;
	tour_text(&steps[app->frame->tour.step], &plain);
	const char *rest = arena_strndup(&app->scratch, plain.p, plain.n);
	str_free(&plain);
	while (count < LINES_MOST && page_part(&rest, room, &lines[count]))
		count++;
	return count;
}

int tour_rows(struct app *app)
{
	struct text lines[LINES_MOST];
	return app->frame->tour.on ? text_lines(app, lines) + 3 : 0;
}

void tour_draw(struct app *app, struct area area)
{
	const struct tour_step *step = &steps[app->frame->tour.step];
	struct text lines[LINES_MOST];
	int count = text_lines(app, lines), width = box_width(app);
	struct area box = canvas_part(area, (area.width - width) / 2, 0, width, area.height);
	int room = box.height - 3;
	if (room < 1)
		return;
	for (int y = 0; y < box.height; y++)
		canvas_fill(box, 0, y, box.width, STYLE_ACCENT, ' ');
	canvas_border(box, STYLE_ACCENT);
	canvas_fit(box, 2, 0, width - 4, STYLE_BOLD,
		arena_printf(&app->scratch, " Tour %d of %d: %s ", app->frame->tour.step + 1, STEP_COUNT,
			step->title));
	for (int i = 0; i < count && i < room; i++) {
		bool cut = i == room - 1 && count > room;
		canvas_fit(box, 2, 1 + i, width - 4, STYLE_NORMAL,
			arena_printf(&app->scratch, "%.*s%s", (int)lines[i].n, lines[i].p,
				cut ? " ..." : ""));
	}
	struct area last = canvas_part(box, 2, box.height - 2, width - 4, 1);
	char keys[TOUR_KEYS];
	int used = canvas_fit(last, 0, 0, last.width, STYLE_BOLD, arena_printf(&app->scratch, "Press %s",
		tour_keys(step, &(struct key_pair){ 0, 0 }, keys)));
	canvas_fit(last, used, 0, last.width - used, STYLE_DIM,
		&steps[STEP_COUNT - 1] == step ? "" : "   n does it for you   q leaves");
}
