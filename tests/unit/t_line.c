/* The line that `:` opens: its commands, their completion and history; files that it writes; copies. */
#include "config.h"

#include "session/session_private.h"
#include "ui/screen/clipboard.h"
#include "ui/stage/lines.h"

#include "ui_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/t_line.XXXXXX";

static void text(const char *letters)
{
	for (uint32_t code; (code = text_decode(&letters));)
		press(code);
}

static void command(const char *letters)
{
	press(':');
	text(letters);
	press(KEY_CODE_ENTER);
}

/* What Tab, pressed so many times, makes of a command. */
static const char *completed(const char *letters, int tabs)
{
	static char made[PROMPT_SIZE];
	press(':');
	text(letters);
	for (; tabs > 0; tabs--)
		press(KEY_CODE_TAB);
	for (; tabs < 0; tabs++)
		press(KEY_CODE_BACKTAB);
	snprintf(made, sizeof(made), "%s", app.stage->prompt.text);
	press(KEY_CODE_ESC);
	return made;
}

static bool notes(const char *what)
{
	if (strstr(app.note, what))
		return true;
	printf("# the note is: %s\n", app.note);
	return false;
}

static void test_commands(void)
{
	begin(&(struct fixture_options){ .measured = true });
	command("view problems");
	is_str(view_name(), "problems", ":view");
	command("  v   layers ");
	is_str(view_name(), "layers", "a beginning, and blanks");
	ok(lines_find(TEXT("w")) && lines_find(TEXT("w"))->action == LINE_WRITE, "w is write, not workspace");
	ok(lines_find(TEXT("workspace"))->action == LINE_WHAT_IF, "a whole name is that");
	command("view prolbems");
	ok(app.note_bad && notes("unknown view \"prolbems\"; did you mean problems?"), "a misspelt view");
	command("fusion pattern");
	is_int(session->scenario.fusion, FUSION_PATTERN, ":fusion pattern");
	ok(notes("what-ifs: fusion=pattern"), "it is said");
	command("fusion off");
	is_int(session->scenario.fusion, FUSION_OFF, "off");
	command("set parallel,fusion=fold");
	ok(session->scenario.fusion == FUSION_FOLD && session->scenario.parallel == PARALLEL_RESOURCES,
		":set takes several");
	command("set fusion=nonsense");
	ok(app.note_bad && session->scenario.fusion == FUSION_FOLD, "an unknown choice changes nothing");
	command("batch 8");
	ok(fixture_calls.select == 1 && fixture_calls.batch == 8, ":batch");
	command("batch 0");
	ok(app.note_bad && notes("give a number from 1 to 65536") && fixture_calls.select == 1, "not 0");
	command("dtype bf16");
	ok(fixture_calls.select == 2 && fixture_calls.dtype == DTYPE_BF16, ":dtype");
	command("dtype u8");
	ok(app.note_bad && fixture_calls.select == 2, "no other integers");
	command("3");
	is_int(app.number_of[app.layer], 3, ":3 goes to layer 3");
	command("99999");
	ok(app.note_bad && notes("no layer \"99999\": they are numbered from"), "there is no such layer");
	command("view detail");
	command("layer 2");
	ok(app.number_of[app.layer] == 2 && app_pane(&app)->view->details, "in the details too");
	end();
}

static void test_rows(void)
{
	begin(&(struct fixture_options){ .measured = true });
	int all = app_pane(&app)->shown_count;
	command("filter relu");
	ok(app_pane(&app)->shown_count < all && app_pane(&app)->shown_count > 0, ":filter");
	command("filter");
	is_int(app_pane(&app)->shown_count, all, "without a text: all");
	command("sort name");
	is_int(app_pane(&app)->order, 3, ":sort");
	command("sort nothing");
	ok(app.note_bad && notes("unknown order \"nothing\" in this view; Tab after :sort lists the orders"),
		"no such order");
	command("reverse");
	ok(app_pane(&app)->reverse, "what a key does");
	command("sort model");
	command("search bn1");
	ok(strstr(app_clean(&app, app_layer(&app, app.layer)->name), "bn1"), ":search");
	command("help");
	is_str(view_name(), "help", ":help");
	command("q");
	ok(app.stage->quit, "the only command with q");
	end();
}

static void test_refused(void)
{
	begin(&(struct fixture_options){ .measured = true });
	command("");
	ok(!app.note[0] && !app.stage->prompt.use, "nothing does nothing");
	command("fusoin off");
	ok(app.note_bad && notes("unknown command \"fusoin\"; did you mean fusion?"), "a misspelt command");
	command("s");
	ok(app.note_bad && notes("\"s\" begins several commands: set, search, sort, stop"),
		"an ambiguous one");
	command("view");
	ok(app.note_bad && notes("view needs an argument: :view NAME"), "no argument");
	command("quit now");
	ok(app.note_bad && notes("quit takes no argument") && !app.stage->quit, "an argument too many");
	command("q!");
	ok(app.stage->quit, "q! leaves");
	app.stage->quit = false;
	command("e /nonexistent/model.onnx");
	ok(notes("opened /nonexistent/model.onnx"), "e opens another model");
	command("view! layers");
	ok(app.note_bad && notes("view takes no !"), "! is of write");
	press(':');
	for (int i = 0; i < 2000; i++)
		app_key(&app, i % 3 ? 'x' : 0x5c42);
	app_draw(&app);
	ok(strlen(app.stage->prompt.text) < PROMPT_SIZE, "long input ends");
	press(KEY_CODE_TAB);
	press(KEY_CODE_ENTER);
	ok(app.note_bad && !strchr(app.note, '\n') && strlen(app.note) < 150, "and is cut in the message");
	command("dtype half");
	is_int(fixture_calls.dtype, DTYPE_F16, ":dtype with a usual name");
	command("dtype bf61");
	ok(app.note_bad && notes("did you mean bf16?"), "a misspelt type");
	command("dim x=1 y");
	ok(app.note_bad, "a dimension without a value");
	command("device nonsense");
	ok(app.note_bad && notes(":view devices lists them"), "no such device");
	end();
}

static void test_dims(void)
{
	begin(&(struct fixture_options){ .unbound = true });
	is_str(completed("dim se", 1), "dim sequence=", "Tab knows a dimension");
	command("dim sequence=512");
	ok(fixture_calls.bind == 1 && fixture_calls.value == 512, ":dim");
	is_str(fixture_calls.name, "sequence", "its name");
	end();
}

static void test_completion(void)
{
	begin(&(struct fixture_options){ .measured = true });
	is_str(completed("vi", 1), "view ", "a command, with a blank for its argument");
	is_str(completed("qu", 1), "quit", "without one: none");
	is_str(completed("view pro", 1), "view problems", "a view");
	is_str(completed("fusion o", 1), "fusion off", "a choice");
	is_str(completed("set parallel,fu", 1), "set parallel,fusion", "a what-if in a list");
	is_str(completed("set fusion=pat", 1), "set fusion=pattern", "its choice");
	is_str(completed("dtype bf", 1), "dtype bf16", "a type");
	is_str(completed("sort na", 1), "sort name", "an order");
	is_str(completed("view d", 1), "view detail", "nothing more is shared: the first");
	is_str(completed("view d", 2), "view devices", "the next");
	is_str(completed("view d", -1), "view distribution", "BackTab: the last");
	is_str(completed("me", 1), "measure", "one of several words");
	is_str(completed("dtype f8e5", 1), "dtype f8e5m2", "what all share");
	is_str(completed("dtype f8e5", 3), "dtype f8e5m2fnuz", "then one after the other");
	is_str(completed("nonsense", 1), "nonsense", "what is unknown stays");
	ok(notes("") && !app.stage->prompt.use, "Esc leaves");
	end();
}

static void test_history(void)
{
	char path[80];
	snprintf(path, sizeof(path), "%s/history", folder);
	FILE *f = fopen(path, "w");
	for (int i = 0; i < 5 * HISTORY_LINES; i++)
		fprintf(f, "batch %d\n", i);
	fprintf(f, "\033[31mhostile\n");
	for (int i = 0; i < 5000; i++)
		fputc('x', f);
	fclose(f);
	begin(&(struct fixture_options){ .measured = true });
	history_open(&app.frame->history, path);
	is_int(app.frame->history.count, HISTORY_LINES, "the newest lines are read");
	struct stat st;
	ok(stat(path, &st) == 0 && st.st_size < 20 * HISTORY_LINES, "and the file is shortened");
	press(':');
	text("vi");
	press(KEY_CODE_UP);
	is_str(app.stage->prompt.text, "batch 999", "Up: the newest; hostile and overlong lines are dropped");
	press(KEY_CODE_UP);
	is_str(app.stage->prompt.text, "batch 998", "the one before");
	press(KEY_CODE_DOWN);
	press(KEY_CODE_DOWN);
	is_str(app.stage->prompt.text, "vi", "Down: what was typed");
	press(KEY_CODE_ESC);
	command("view layers");
	command("view layers");
	end();
	struct history h = { 0 };
	history_open(&h, path);
	is_str(h.lines[h.count - 1], "view layers", "it is kept");
	is_str(h.lines[h.count - 2], "batch 999", "once");
	history_free(&h);
	history_open(&h, folder);
	ok(!h.path && !h.count, "a folder is no history");
	history_free(&h);
}

static void print_layers(struct session *s, const int *layers, int count, FILE *out)
{
	for (int i = 0; i < count; i++)
		fprintf(out, "%.*s\n", (int)s->current->plan->layers[layers[i]].name.n,
			s->current->plan->layers[layers[i]].name.p);
}

static const struct session_export exports[] = { { "csv", print_layers }, { 0 } };

static const char *contents(const char *path)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void test_write(void)
{
	char line[200], path[100];
	begin(&(struct fixture_options){ .measured = true });
	session->exports = exports;
	snprintf(path, sizeof(path), "%s/a.txt", folder);
	snprintf(line, sizeof(line), "write %s", path);
	command(line);
	ok(!app.note_bad && notes("wrote ") && strstr(contents(path), "conv1") &&
			!strstr(contents(path), "write"), "the screen as text, without the command");
	FILE *f = fopen(path, "w");
	fputs("mine", f);
	fclose(f);
	command(line);
	ok(app.note_bad && notes("a.txt: the file exists; :write! replaces it"), "a file is not replaced");
	is_str(contents(path), "mine", "really");
	snprintf(line, sizeof(line), "write! %s", path);
	command(line);
	ok(strstr(contents(path), "conv1") != NULL, "unless it is said");
	snprintf(line, sizeof(line), "write %s/a.svg", folder);
	command(line);
	snprintf(path, sizeof(path), "%s/a.svg", folder);
	ok(strncmp(contents(path), "<svg", 4) == 0, "as a picture");
	command("filter relu");
	command("sort name");
	snprintf(line, sizeof(line), "write %s/a.csv", folder);
	command(line);
	snprintf(path, sizeof(path), "%s/a.csv", folder);
	const char *got = contents(path);
	int lines = 0;
	for (const char *p = got; *p; p++)
		lines += *p == '\n';
	is_int(lines, app_pane(&app)->shown_count, "an export has the rows that are shown");
	ok(!strstr(got, "conv") && strstr(got, "relu"), "those that match");
	snprintf(line, sizeof(line), "write %s/a.cvs", folder);
	command(line);
	ok(app.note_bad && notes("a.cvs: end it in .txt .svg .csv"),
		"an unknown form");
	snprintf(line, sizeof(line), "write %s/none/a.txt", folder);
	command(line);
	ok(app.note_bad && notes("none/a.txt: cannot write: No such file"), "no such folder");
	snprintf(path, sizeof(path), "%s/fifo.txt", folder);
	mkfifo(path, 0600);
	snprintf(line, sizeof(line), "write! %s", path);
	command(line);
	ok(app.note_bad, "what is no file is not written to, and nothing waits");
	snprintf(line, sizeof(line), "write %s/a.t", folder);
	snprintf(path, sizeof(path), "write %s/a.txt", folder);
	is_str(completed(line, 1), path, "Tab knows files");
	snprintf(line, sizeof(line), "open %s/a", folder);
	is_str(completed(line, 1), line, ":open offers no other files than models");
	snprintf(path, sizeof(path), "%s/a.onnx", folder);
	fclose(fopen(path, "w"));
	snprintf(path, sizeof(path), "open %s/a.onnx", folder);
	is_str(completed(line, 1), path, "but models");
	end();
}

static void test_copy(void)
{
	begin(&(struct fixture_options){ .measured = true });
	press('g');
	pause_typing();
	press('y');
	is_str(app.stage->copy.p, app_clean(&app, app_layer(&app, app.layer)->name), "y: the layer's name");
	ok(notes("copied the name: conv1"), "it is said");
	press('Y');
	is_str(app.stage->copy.p, app_problem(&app, app.layer), "Y: its problem");
	struct str out = { 0 };
	clipboard_sequence(&out, TEXT("abcd"));
	is_str(out.p, "\033]52;c;YWJjZA==\a", "the sequence");
	str_clear(&out);
	clipboard_sequence(&out, TEXT("abc"));
	is_str(out.p, "\033]52;c;YWJj\a", "without padding");
	str_clear(&out);
	static char large[2 * CLIPBOARD_BYTES];
	memset(large, 'x', sizeof(large));
	clipboard_sequence(&out, (struct text){ large, sizeof(large) });
	ok(out.n == CLIPBOARD_BYTES / 3 * 4 + 8, "bounded");
	str_free(&out);
	end();
}

static void test_pages(void)
{
	int count;
	const struct line_row *rows = lines_table(&count);
	struct str man = { 0 };
	keys_print_man(&man);
	for (int i = 0; i < count; i++) {
		char shown[LINE_SHOWN];
		struct str wanted = { 0 };
		line_shown(shown, &rows[i]);
		keys_man_add(&wanted, shown, strlen(shown));
		ok(strstr(man.p, wanted.p) && lines_find(text_of(rows[i].name)) == &rows[i],
			"%s is in the manual, and found", rows[i].name);
		str_free(&wanted);
	}
	str_free(&man);
}

static void test_looks(void)
{
	begin(&(struct fixture_options){ .measured = true });
	is_int(app.frame->theme.page_ground, 0x0d1117, "dark at first");
	command("theme light");
	is_int(app.frame->theme.page_ground, 0xffffff, ":theme light");
	ok(app.frame->redraw && app.frame->theme_chosen,
		"all is drawn again, and the terminal's word does not count");
	command("theme mono,warning=208 bold");
	ok(!app.frame->theme.colored, ":theme mono");
	is_int(theme_shade(&app.frame->theme, STYLE_WARN, false, 0).marks, LOOK_BOLD, "with a role");
	command("theme drak");
	ok(notes("did you mean dark?") && !app.frame->theme.colored, "a wrong one is refused");
	command("theme dark,warnin=1");
	ok(notes("did you mean warning?"), "so is a wrong role");
	is_str(completed("theme li", 1), "theme light", "Tab completes it");
	command("mouse");
	ok(app.stage->mouse && notes("Shift"), ":mouse");
	command("mouse off");
	ok(!app.stage->mouse, ":mouse off");
	command("mouse maybe");
	ok(!app.stage->mouse && app.note_bad, "on or off");
	end();
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	test_commands();
	test_rows();
	test_refused();
	test_dims();
	test_completion();
	test_history();
	test_write();
	test_copy();
	test_pages();
	test_looks();
	char line[80];
	snprintf(line, sizeof(line), "rm -rf %s", folder);
	ok(system(line) == 0, "clean");
	return done_testing();
}
