/* Runs a file of cases "keys | what the screen shows" (tests/screens/NAME.keys). A case:
 *
 *   == its name
 *   begin measured control 80x40     a session with these fixture_options ("chain=7"), the size of the screen
 *   keys / relu Enter                typed, key by key
 *   sees "sorted by cost"   # why    on the screen; `no` not; `in order "a" "b"` one behind the other
 *   layer relu                       an answer: rows of keys_answers
 *
 * What else may be done: rows of keys_acts. GENERATE=1 writes the answers that came into the file, for
 * review. */
#ifndef KEYS_CASES_H
#define KEYS_CASES_H

#include "session/session_private.h"
#include "ui/model/beside.h"

#include "ui_open.h"

#include "base/str.h"

/* Types words: a key's name, or letters. */
__attribute__((unused)) static void type_keys(const char *words)
{
	for (const char *p = words; *p;) {
		p += strspn(p, " ");
		struct text word = { p, strcspn(p, " ") };
		uint32_t key = key_parse(word);
		bool pair = !key && typed_word(&app, word);
		if (key)
			app_key(&app, key);
		char copy[64];
		snprintf(copy, sizeof(copy), "%.*s", (int)word.n, word.p);
		const char *next = copy;
		for (uint32_t code; !key && !pair && (code = text_decode(&next));)
			app_key(&app, code);
		p += word.n;
		app_refresh(&app);
		app_draw(&app);
	}
}

static bool keys_open;

static void keys_end(void)
{
	if (keys_open)
		end();
	keys_open = false;
}

static void keys_open_session(const char *words)
{
	static const struct {
		const char *name;
		size_t at;
	} flags[] = {
#define FLAG(name) { #name, offsetof(struct fixture_options, name) }
		FLAG(queue), FLAG(busy), FLAG(measured), FLAG(nothing), FLAG(peaks), FLAG(disturbed),
		FLAG(several_times), FLAG(unbound), FLAG(proxies), FLAG(unsupported), FLAG(described),
		FLAG(control), FLAG(scenarios), FLAG(sweep), FLAG(agents), FLAG(real), FLAG(real_noisy),
		FLAG(real_slow), FLAG(real_two), FLAG(scopes),
#undef FLAG
	};
	struct fixture_options o = { 0 };
	int columns = 80, rows = 24;
	char copy[256], *save;
	keys_end();
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		bool known = sscanf(word, "%dx%d", &columns, &rows) == 2 ||
			sscanf(word, "chain=%d", &o.chain) == 1;
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			if (strcmp(flags[i].name, word) == 0)
				known = *(bool *)((char *)&o + flags[i].at) = true;
		ok(known, "a session %s", word);
	}
	begin_at(&o, columns, rows);
	keys_open = true;
}

/* ---- what is done */

static void keys_show(const char *view)
{
	app_show(&app, views_find(view), -1);
}

static void keys_size(const char *size)
{
	int columns = 80, rows = 24;
	sscanf(size, "%dx%d", &columns, &rows);
	canvas_resize(&app.stage->canvas, columns, rows);
}

static void keys_agent(const char *answer)
{
	static const char *const names[] = { "works", "ready", "ended", "failed" };
	static const int answers[] = { AGENT_WORKS, AGENT_READY, AGENT_ENDED, AGENT_FAILED };
	for (int i = 0; i < 4; i++)
		if (strcmp(names[i], answer) == 0)
			fixture_agent = answers[i];
	app_agent_step(&app);
	app_refresh(&app);
}

static void keys_device(const char *answer)
{
	fixture_answer = atoi(answer);
	app_device_step(&app, 0);
	fixture_answer = 0;
}

/* All that the shown view computes beside other work. */
static void keys_work(const char *times)
{
	const struct pane *p = app_pane(&app);
	for (int i = 0; i < (*times ? atoi(times) : 1); i++) {
		app_draw(&app);
		while (p->view->work(&app, p->state, 0))
			p->view->work(&app, p->state, 1);
	}
}

/* The batch of the plan, as if the session had selected it. */
static void keys_batch(const char *batch)
{
	session->current->plan->batch = atoi(batch);
	app.generation++;
}

static void keys_age(const char *ms)
{
	app_note_age(&app, app.note_ms + atoi(ms));
}

static void keys_trouble(const char *text)
{
	snprintf(session->seat->trouble, sizeof(session->seat->trouble), "%s", text);
}

static void keys_stack(const char *text)
{
	static char kept[128];
	snprintf(kept, sizeof(kept), "%s", text);
	session->seat->device.stack = kept;
}

static void keys_stale(const char *unused)
{
	(void)unused;
	session->stale = true;
	app_refresh(&app);
}

static void keys_sweep(const char *open)
{
	fixture_sweep_open = atoi(open);
}

static void keys_unreadable(const char *yes)
{
	fixture_calls.unreadable = strcmp(yes, "yes") == 0;
}

static void keys_error(const char *text)
{
	app_note(&app, true, "%s", text);
}

/* The queue has nothing to do ("yes"), or is as the session has it. */
static void keys_idle(const char *yes)
{
	static const struct queue_status idle = { .current = "", .current_what = "", .trouble = "",
		.eta_s = NAN, .idle = true };
	fixture_status = strcmp(yes, "yes") == 0 ? &idle : NULL;
}

static void keys_ask(const char *unused)
{
	(void)unused;
	app.stage->prompt.use = &prompt_measure;
}

static bool keys_quoted(const char **p, char text[512]);

/* until "text" KEYS: the keys again and again, until the text is seen. */
static void keys_until(const char *rest)
{
	char text[512];
	if (keys_quoted(&rest, text))
		for (int i = 0; i < 100 && !sees(text); i++)
			type_keys(rest);
}

static void keys_close(const char *unused)
{
	(void)unused;
	keys_end();
}

static const struct {
	const char *word;
	void (*run)(const char *rest);
} keys_acts[] = { { "begin", keys_open_session }, { "keys", type_keys }, { "show", keys_show },
	{ "size", keys_size }, { "agent", keys_agent }, { "device", keys_device }, { "work", keys_work },
	{ "set batch", keys_batch },
	{ "age", keys_age }, { "trouble", keys_trouble }, { "stack", keys_stack }, { "stale", keys_stale },
	{ "sweep open", keys_sweep }, { "unreadable", keys_unreadable }, { "error", keys_error },
	{ "idle", keys_idle },
	{ "ask", keys_ask }, { "until", keys_until }, { "end", keys_close } };

/* ---- what is answered */

static void tell_layer(struct str *out, const char *unused)
{
	(void)unused;
	str_addf(out, "%s", app_clean(&app, app_layer(&app, app.layer)->name));
}

static void tell_problem(struct str *out, const char *unused)
{
	const char *problem = app_problem(&app, app.layer);
	(void)unused;
	str_addf(out, "%s", problem ? problem : "none");
}

static void tell_view(struct str *out, const char *unused)
{
	(void)unused;
	str_addf(out, "%s", app_pane(&app)->view->name);
}

/* What is asked for; "none". */
static void tell_prompt(struct str *out, const char *unused)
{
	static const struct {
		const char *name;
		const struct prompt_use *use;
	} uses[] = { { "assume", &prompt_assume }, { "choice", &prompt_choice }, { "form", &prompt_form },
		{ "path", &prompt_path }, { "measure", &prompt_measure }, { "search", &prompt_search },
		{ "filter", &prompt_filter }, { "line", &prompt_line } };
	const char *name = app.stage->prompt.use ? "another" : "none";
	(void)unused;
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		name = app.stage->prompt.use == uses[i].use ? uses[i].name : name;
	str_addf(out, "%s", name);
}

static void tell_typed(struct str *out, const char *unused)
{
	(void)unused;
	str_addf(out, "\"%s\"", app.stage->prompt.text);
}

static void tell_what_ifs(struct str *out, const char *unused)
{
	char text[SCENARIO_TEXT_SIZE];
	(void)unused;
	str_addf(out, "%s", scenario_text(session_scenario(session), text, sizeof(text)));
}

static void tell_number(struct str *out, const char *what)
{
	const struct pane *p = app_pane(&app);
	const struct {
		const char *name;
		double number;
	} numbers[] = { { "cursor", p->cursor }, { "row", pane_row(p) }, { "top", p->top },
		{ "shown", p->shown_count }, { "listed", app.listed_count }, { "picked", app.picked_count },
		{ "bound", session->analysis->total_ns },
		{ "sequential", session->analysis->sequential_ns },
		{ "batch", (double)session->current->batch },
		{ "assumed", session->current->assumed_count }, { "batches", session->given->batch_count },
		{ "order", p->order },
		{ "cost", session->analysis->layers[app.layer].ns } };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (strcmp(numbers[i].name, what) == 0)
			str_addf(out, "%.6g", numbers[i].number);
}

static void tell_sorted(struct str *out, const char *unused)
{
	const struct pane *p = app_pane(&app);
	(void)unused;
	str_addf(out, "%s", p->list->orders[p->order]);
}

static void tell_yes(struct str *out, const char *what)
{
	const struct pane *p = app_pane(&app), *layers = &app.stage->panes[views_number(&view_layers)];
	bool yes = strcmp(what, "quit") == 0	      ? app.stage->quit
		   : strcmp(what, "note") == 0	      ? app.note[0] != '\0'
		   : strcmp(what, "at cursor") == 0   ? app.listed[pane_row(layers)] == app.layer
		   : strcmp(what, "more work") == 0   ? p->view->work(&app, p->state, 0)
		   : strcmp(what, "searching") == 0   ? session->advice != NULL
		   : strcmp(what, "always") == 0      ? app.frame->always
		   : strcmp(what, "asks") == 0	      ? question_measure(&app)
		   : strcmp(what, "complete") == 0    ? session->analysis->complete
						      : session_awaited(session) != NULL;
	str_addf(out, "%s", yes ? "yes" : "no");
}

/* What was asked of the stand-ins: "asked missing: 1". */
static void tell_asked(struct str *out, const char *what)
{
	const struct fixture_calls *c = &fixture_calls;
	const struct {
		const char *name, *text;
		long long number;
	} calls[] = { { "chosen", c->chosen, 0 }, { "agent", c->agent, 0 }, { "opened", c->opened, 0 },
		{ "missing", NULL, c->missing }, { "sweep", NULL, c->sweep }, { "layer", NULL, c->layer },
		{ "problem", NULL, c->problem }, { "cancel", NULL, c->cancel }, { "batch", NULL, c->batch },
		{ "value", NULL, c->value }, { "bind", NULL, c->bind }, { "select", NULL, c->select },
		{ "again", NULL, c->again }, { "agent starts", NULL, c->agent_starts },
		{ "agent cancels", NULL, c->agent_cancels }, { "agent frees", NULL, c->agent_frees },
		{ "type", dtype_name(c->dtype), 0 } };
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(calls[i].name, what) != 0)
			continue;
		if (calls[i].text)
			str_addf(out, "%s", *calls[i].text ? calls[i].text : "nothing");
		else
			str_addf(out, "%lld", calls[i].number);
	}
}

static const struct {
	const char *word;
	void (*tell)(struct str *out, const char *what);
} keys_answers[] = { { "layer", tell_layer }, { "view", tell_view }, { "prompt", tell_prompt },
	{ "typed", tell_typed }, { "what-ifs", tell_what_ifs }, { "sorted by", tell_sorted },
	{ "cursor", tell_number }, { "row", tell_number }, { "top", tell_number }, { "shown", tell_number },
	{ "listed", tell_number }, { "picked", tell_number }, { "bound", tell_number },
	{ "sequential", tell_number }, { "batch", tell_number }, { "assumed", tell_number },
	{ "batches", tell_number }, { "quit", tell_yes }, { "note", tell_yes }, { "at cursor", tell_yes },
	{ "awaited", tell_yes }, { "more work", tell_yes }, { "searching", tell_yes }, { "always", tell_yes },
	{ "asks", tell_yes }, { "complete", tell_yes }, { "problem", tell_problem }, { "cost", tell_number },
	{ "asked", tell_asked } };

/* ---- files */

struct keys_file {
	const char *path;
	int line;
	char title[128];
	struct str written;
};

/* The next "text" of a line, with \n for a line break; false: there is none. */
static bool keys_quoted(const char **p, char text[512])
{
	size_t n = 0;
	*p += strspn(*p, " ");
	if (**p != '"')
		return false;
	for (++*p; **p && **p != '"' && n < 511; ++*p) {
		bool escaped = **p == '\\' && (*p)[1];
		*p += escaped;
		text[n++] = escaped && **p == 'n' ? '\n' : **p;
	}
	text[n] = '\0';
	*p += **p == '"';
	return true;
}

/* Texts on the screen one behind the other; `no`: none of them is there. */
static void keys_see(struct keys_file *f, const char *line, bool no, const char *comment)
{
	const char *p = strchr(line, '"'), *from;
	char text[512];
	app_draw(&app);
	for (from = screen(); p && keys_quoted(&p, text);) {
		const char *found = strstr(from, text);
		if (!ok((found != NULL) != no, "%s:%d: %s: %s%s", f->path, f->line, f->title, line,
			    comment)) {
			printf("# %s \"%s\" on this screen:\n", no ? "there is" : "no", text);
			for (const char *row = screen(); *row; row += strcspn(row, "\n"), row += *row == '\n')
				printf("# |%.*s\n", (int)strcspn(row, "\n"), row);
		}
		from = found ? found + 1 : from;
	}
}

/* Returns the rest behind the word, or NULL. */
static const char *keys_rest(const char *line, const char *word)
{
	size_t n = strlen(word);
	return strncmp(line, word, n) || (line[n] && line[n] != ' ' && line[n] != ':') ? NULL
		: line + n + strspn(line + n, " ");
}

/* "layer: relu", "asked missing: 1" */
static void keys_answer(struct keys_file *f, const char *line, const char *comment)
{
	const char *colon = strstr(line, ": ");
	struct str out = { 0 };
	char what[64];
	snprintf(what, sizeof(what), "%.*s", (int)(colon ? colon - line : 0), line);
	for (size_t i = 0; colon && i < sizeof(keys_answers) / sizeof(*keys_answers) && !out.n; i++) {
		const char *rest = keys_rest(what, keys_answers[i].word);
		if (rest)
			keys_answers[i].tell(&out, *rest ? rest : what);
	}
	const char *want = colon ? colon + 2 : "", *got = out.n ? out.p : "nothing";
	if (!ok(colon && strcmp(got, want) == 0, "%s:%d: %s: %s%s", f->path, f->line, f->title, what,
		    comment))
		printf("# got  %s\n# want %s\n", got, want);
	str_addf(&f->written, "%s: %s%s\n", what, got, comment);
	str_free(&out);
}

static void keys_line(struct keys_file *f, char *line)
{
	char *comment = strstr(line, "   # "), why[256] = "";
	const char *rest;
	if (comment) {
		snprintf(why, sizeof(why), "%s", comment);
		*comment = '\0';
	}
	if (keys_rest(line, "sees") || keys_rest(line, "no") || keys_rest(line, "in order")) {
		keys_see(f, line, keys_rest(line, "no") != NULL, why);
		str_addf(&f->written, "%s%s\n", line, why);
		return;
	}
	for (size_t i = 0; i < sizeof(keys_acts) / sizeof(*keys_acts); i++) {
		if ((rest = keys_rest(line, keys_acts[i].word))) {
			keys_acts[i].run(rest);
			if (keys_open)
				app_draw(&app);
			str_addf(&f->written, "%s%s\n", line, why);
			return;
		}
	}
	keys_answer(f, line, why);
}

static void keys_run(const char *path)
{
	struct keys_file f = { .path = path };
	char whole[1024], line[1024];
	snprintf(whole, sizeof(whole), "%s/%s", getenv("srcdir") ? getenv("srcdir") : "..", path);
	FILE *in = fopen(whole, "r");
	if (!ok(in != NULL, "%s is there", whole))
		return;
	while (fgets(line, sizeof(line), in)) {
		f.line++;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "== ", 3) == 0) {
			keys_end();
			fixture_sweep_open = 0;
			snprintf(f.title, sizeof(f.title), "%.100s", line + 3);
		}
		if (!*line || *line == '#' || *line == '=')
			str_addf(&f.written, "%s\n", line);
		else
			keys_line(&f, line);
	}
	fclose(in);
	keys_end();
	in = getenv("GENERATE") ? fopen(whole, "w") : NULL;
	if (in) {
		fwrite(f.written.p, 1, f.written.n, in);
		fclose(in);
	}
	str_free(&f.written);
}

#endif
