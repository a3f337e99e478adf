/* Tab in a command: what its last word may become. The first Tab adds what all possible words share and lists
 * them; the next ones go through them. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/stage/lines.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define WORDS_MOST 200

/* Adds prefix and word, if they begin like the text and can be typed. */
static void offer(struct prompt *q, const char *prefix, const char *word)
{
	struct completion *c = &q->completion;
	const char *typed = q->text + c->from;
	size_t p = strlen(prefix), n = p + strlen(word);
	if (c->count == WORDS_MOST || c->from + n + 1 >= sizeof(q->text) || !text_is_clean(text_of(word)))
		return;
	char *whole = base_malloc(n + 1);
	memcpy(whole, prefix, p);
	memcpy(whole + p, word, n - p + 1);
	if (strncasecmp(whole, typed, strlen(typed)) != 0) {
		free(whole);
		return;
	}
	if (!c->words)
		c->words = base_calloc(WORDS_MOST, sizeof(*c->words));
	c->words[c->count++] = whole;
}

/* The last of several words, separated by any of `ends`, begins after it. */
static void begin_after(struct prompt *q, const char *ends)
{
	for (size_t i = q->completion.from; q->text[i]; i++)
		if (strchr(ends, q->text[i]))
			q->completion.from = i + 1;
}

static void offer_choices(struct prompt *q, const struct what_if *w, const char *prefix)
{
	for (int i = 0; i < what_if_choices(w); i++)
		offer(q, prefix, w->choices[i]);
}

static void offer_what_ifs(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	int count;
	const struct what_if *w = what_if_table(&count);
	begin_after(q, ", ");
	bool choice = strchr(q->text + q->completion.from, '=') != NULL;
	for (int i = 0; i < count; i++)
		if (choice)
			offer_choices(q, &w[i], arena_printf(&app->scratch, "%s=", w[i].name));
		else
			offer(q, w[i].name, "");
}

static void offer_devices(struct app *app)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct session_device *list;
	int count = session_devices(app->session, &a, &list, &err);
	for (int i = 0; i < count; i++)
		offer(&app->stage->prompt, "", list[i].key);
	arena_free(&a);
}

static void offer_dims(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	const struct plan *p = app_plan(app);
	begin_after(q, " ");
	for (int i = 0; p && i < p->unbound_count + p->binding_count; i++) {
		struct text name = i < p->unbound_count ? p->unbound[i]
							: p->bindings[i - p->unbound_count].name;
		if (text_is_clean(name))
			offer(q, arena_printf(&app->scratch, "%s=", app_clean(app, name)), "");
	}
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files or only models, and folders; hidden ones only after a dot. */
static void offer_files(struct app *app, bool models)
{
	struct prompt *q = &app->stage->prompt;
	const char *typed = q->text + q->completion.from, *slash = strrchr(typed, '/');
	const char *folder = slash ? arena_strndup(&app->scratch, typed, (size_t)(slash - typed) + 1) : "";
	DIR *d = opendir(*folder ? folder : ".");
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		const char *path = arena_printf(&app->scratch, "%s%s", folder, e->d_name);
		if ((e->d_name[0] == '.' && (slash ? slash[1] : typed[0]) != '.') ||
			!text_is_clean(text_of(e->d_name)))
			continue;
		bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
		if (is_folder || !models || path_is_model(e->d_name))
			offer(q, path, is_folder ? "/" : "");
	}
	if (d)
		closedir(d);
	if (q->completion.count)
		qsort(q->completion.words, (size_t)q->completion.count, sizeof(*q->completion.words),
			name_compare);
}

static void offer_arguments(struct app *app, const struct line_row *row)
{
	struct prompt *q = &app->stage->prompt;
	const struct pane *p = app_pane(app);
	int count;
	switch (row->action) {
	case LINE_VIEW:
		for (int i = 0; views_at(i); i++)
			offer(q, "", views_at(i)->name);
		break;
	case LINE_SET: offer_what_ifs(app); break;
	case LINE_WHAT_IF: offer_choices(q, &what_if_table(&count)[row->number], ""); break;
	case LINE_DEVICE:
	case LINE_BESIDE: offer_devices(app); break;
	case LINE_DTYPE:
		for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++)
			if (dtype_is_asked((enum dtype)t))
				offer(q, "", dtype_name((enum dtype)t));
		break;
	case LINE_DIM: offer_dims(app); break;
	case LINE_SORT:
		for (int i = 0; p->list->orders && p->list->orders[i]; i++)
			if (!p->list->offers || p->list->offers(app, p->state, i))
				offer(q, "", p->list->orders[i]);
		break;
	case LINE_WRITE: offer_files(app, false); break;
	case LINE_OPEN: offer_files(app, true); break;
	case LINE_THEME:
		for (int i = 0; theme_name_at(i); i++)
			offer(q, "", theme_name_at(i));
		break;
	case LINE_MOUSE:
		offer(q, "", "on");
		offer(q, "", "off");
		break;
	default: break;
	}
}

static void find_words(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	size_t start = strspn(q->text, " "), n = strcspn(q->text + start, " !");
	int count;
	const struct line_row *rows = lines_table(&count);
	q->completion = (struct completion){ .from = start, .at = -1 };
	if (!q->text[start + n]) {
		for (int i = 0; i < count; i++)
			offer(q, rows[i].name, "");
		return;
	}
	const struct line_row *row = lines_find((struct text){ q->text + start, n });
	n += q->text[start + n] == '!';
	q->completion.from = start + n + strspn(q->text + start + n, " ");
	if (row && row->argument)
		offer_arguments(app, row);
}

/* Replaces the word by the first n bytes of one, cut before a character that is not whole. */
static void put(struct prompt *q, const char *word, size_t n)
{
	size_t from = q->completion.from;
	while (n && (word[n] & 0xc0) == 0x80)
		n--;
	memcpy(q->text + from, word, n);
	q->text[from + n] = '\0';
}

static size_t shared(const struct completion *c)
{
	size_t n = strlen(c->words[0]);
	for (int i = 1; i < c->count; i++) {
		size_t k = 0;
		while (k < n && c->words[i][k] == c->words[0][k])
			k++;
		n = k;
	}
	return n;
}

static void say_words(struct app *app, const struct completion *c)
{
	struct str all = { 0 };
	for (int i = 0; i < c->count; i++)
		str_addf(&all, "%s%s", i ? "  " : "", c->words[i]);
	app_note(app, false, "%s", all.p);
	str_free(&all);
}

void prompt_complete(struct app *app, int direction)
{
	struct prompt *q = &app->stage->prompt;
	struct completion *c = &q->completion;
	bool first = !c->count;
	q->earlier = 0;
	if (first)
		find_words(app);
	if (!c->count) {
		app_note(app, false, "no completion");
		return;
	}
	if (c->count == 1) {
		put(q, c->words[0], strlen(c->words[0]));
		const char *end = q->text + strlen(q->text) - 1;
		const struct line_row *row = lines_find(text_of(q->text + c->from));
		if (*end != '/' && *end != '=' && !strchr(q->text + strspn(q->text, " "), ' ') && row &&
			row->argument)
			strcat(q->text, " "); /* offer() left room for it */
		completion_clear(c);
		return;
	}
	say_words(app, c);
	size_t n = shared(c);
	if (first && n > strlen(q->text + c->from)) {
		put(q, c->words[0], n);
		return;
	}
	c->at = c->at < 0 ? (direction > 0 ? 0 : c->count - 1) : (c->at + direction + c->count) % c->count;
	put(q, c->words[c->at], strlen(c->words[c->at]));
}
