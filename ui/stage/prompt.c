/* The input line at the bottom: its text and keys. What it is for is in its struct prompt_use. */
#include "config.h"

#include "ui/stage/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *prompt_label(struct app *app)
{
	const struct prompt_use *use = app->stage->prompt.use;
	return use->label_of ? use->label_of(app) : use->label ? use->label : "";
}

const char *prompt_help(struct app *app)
{
	const struct prompt_use *use = app->stage->prompt.use;
	return use->help ? use->help : "Enter accepts, Esc cancels";
}

void prompt_open(struct app *app, const struct prompt_use *use)
{
	struct prompt *q = &app->stage->prompt;
	q->use = use;
	q->text[0] = '\0';
	q->untouched = false;
}

void completion_clear(struct completion *c)
{
	for (int i = 0; i < c->count; i++)
		free(c->words[i]);
	free(c->words);
	*c = (struct completion){ 0 };
}

void prompt_close(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	if (q->use && q->use->close)
		q->use->close(q);
	completion_clear(&q->completion);
	*q = (struct prompt){ 0 };
}

bool prompt_is_question(const struct app *app)
{
	return app->stage->prompt.use && app->stage->prompt.use->question;
}

/* ---- a text or a question for what opens it */

static const char *text_label(struct app *app)
{
	return app->stage->prompt.label;
}

static void text_accept(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	if (!q->text[0] || q->accept(app, q->text))
		prompt_close(app);
	app_refresh(app);
}

static const struct prompt_use prompt_text = { .label_of = text_label, .accept = text_accept };

void app_ask(struct app *app, const char *label, bool (*accept)(struct app *app, const char *text))
{
	prompt_open(app, &prompt_text);
	app->stage->prompt.label = label;
	app->stage->prompt.accept = accept;
}

static const char *confirm_text(struct app *app)
{
	return arena_printf(&app->scratch, "%s y/n", app->stage->prompt.text);
}

static const struct prompt_use prompt_confirm = { .question = confirm_text };

void app_confirm(struct app *app, const char *question, void (*yes)(struct app *app))
{
	struct prompt *q = &app->stage->prompt;
	prompt_open(app, &prompt_confirm);
	snprintf(q->text, sizeof(q->text), "%s", question);
	q->yes = yes;
}

/* ---- keys */

/* False: there is no room. */
static bool prompt_add(struct prompt *q, uint32_t key)
{
	struct str s = { 0 };
	canvas_encode(&s, key);
	size_t n = strlen(q->text);
	bool fits = n + s.n < sizeof(q->text);
	if (fits)
		memcpy(q->text + n, s.p, s.n + 1);
	str_free(&s);
	return fits;
}

static void prompt_erase_word(struct prompt *q)
{
	size_t n = strlen(q->text);
	while (n > 0 && q->text[n - 1] == ' ')
		n--;
	while (n > 0 && q->text[n - 1] != ' ')
		n--;
	q->text[n] = '\0';
}

static void prompt_erase(struct prompt *q)
{
	size_t n = strlen(q->text);
	while (n > 0 && (q->text[n - 1] & 0xc0) == 0x80)
		n--;
	q->text[n ? n - 1 : 0] = '\0';
}

bool prompt_edit(struct prompt *q, uint32_t key)
{
	bool erases = key == KEY_CODE_BACKSPACE || key == ('H' & 31) || key == KEY_CODE_DELETE;
	bool prints = key >= ' ' && key < KEY_CODE_UP && !(key >= 0x7f && key < 0xa0);
	if (key == ('U' & 31) || (prints && q->untouched))
		q->text[0] = '\0';
	q->untouched = false;
	if (erases)
		prompt_erase(q);
	else if (key == ('W' & 31))
		prompt_erase_word(q);
	else if (prints)
		return prompt_add(q, key);
	else
		return key == ('U' & 31);
	return true;
}

void prompt_paste(struct app *app, uint32_t key)
{
	struct prompt *q = &app->stage->prompt;
	completion_clear(&q->completion);
	app->note[0] = '\0';
	q->behind |= prompt_edit(q, key);
}

void prompt_catch_up(struct app *app)
{
	if (!app->stage->prompt.behind)
		return;
	app->stage->prompt.behind = false;
	pane_sync(app, app_pane(app), app_list_width(app));
	if (app->stage->prompt.use->follow)
		app->stage->prompt.use->follow(app);
}

/* Closes the question before the answer, which may open another. False: the key is no answer. */
static bool question_key(struct app *app, uint32_t key)
{
	const struct prompt_use *use = app->stage->prompt.use;
	void (*confirmed)(struct app *app) = app->stage->prompt.yes;
	bool no = key == 'n' || key == KEY_CODE_ESC, yes = key == 'y' || key == KEY_CODE_ENTER;
	bool letter = use->letters && key && key < 128 && strchr(use->letters, (int)key);
	prompt_close(app);
	if (!no && !yes && !letter)
		return false;
	if (use->answer)
		use->answer(app, key, !no);
	else if (yes)
		confirmed(app);
	return true;
}

bool prompt_key(struct app *app, uint32_t key)
{
	struct prompt *q = &app->stage->prompt;
	const struct prompt_use *use = q->use;
	if (use->question)
		return question_key(app, key);
	if (use->key && use->key(app, key))
		return true;
	if (key == KEY_CODE_ENTER) {
		use->accept(app);
		return true;
	}
	completion_clear(&q->completion);
	bool emptied = (key == KEY_CODE_BACKSPACE || key == ('H' & 31)) && !q->text[0];
	if (key == KEY_CODE_ESC || key == ('C' & 31) || emptied) {
		if (use->leave && !(emptied && use->leaves_empty))
			use->leave(app);
		prompt_close(app);
	} else if (prompt_edit(q, key) && use->follow) {
		use->follow(app);
	}
	return true;
}
