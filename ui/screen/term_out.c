/* Sends the cells that changed since the last frame, in one write. */
#include "config.h"

#include "ui/screen/term_out.h"
#include "ui/screen/term.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
/* term.h defines a macro for every capability */
#undef columns
#undef lines

static struct {
	int colors;
	int no_color_marks;
	struct canvas shown;
	struct str out;          /* to be sent */
	int x, y;                /* where the cursor is then; x -1: unknown */
	struct shade shade;      /* in force */
} pen;

const char *out_find(const char *name)
{
	const char *s = tigetstr(name);
	return !s || s == (const char *)-1 ? NULL : s;
}

void out_colors(int colors, int no_color_marks)
{
	pen.colors = colors;
	pen.no_color_marks = no_color_marks < 0 ? 0 : no_color_marks;
}

void out_text(const char *sequence)
{
	str_puts(&pen.out, sequence);
}

static int out_put(int c)
{
	char one = (char)c;
	str_add(&pen.out, &one, 1);
	return c;
}

static void out_capability(const char *s)
{
	if (s)
		tputs(s, 1, out_put);
}

void out_send(void)
{
	fflush(stdout);
	for (size_t done = 0; done < pen.out.n;) {
		ssize_t n = write(STDOUT_FILENO, pen.out.p + done, pen.out.n - done);
		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ STDOUT_FILENO, POLLOUT, 0 }, 1, 1000);
		else if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	str_clear(&pen.out);
}

void out_plain(void)
{
	out_capability(exit_attribute_mode);
}

void out_last_row(void)
{
	out_capability(tparm(cursor_address, (long)LINES - 1, 0L));
	out_capability(clr_eol);
}

void out_forget(void)
{
	canvas_free(&pen.shown);
}

void out_free(void)
{
	canvas_free(&pen.shown);
	str_free(&pen.out);
}

static bool same_shade(struct shade a, struct shade b)
{
	return a.ink == b.ink && a.ground == b.ground && a.marks == b.marks;
}

static const struct shade plain = { INK_DEFAULT, INK_DEFAULT, 0 };

static void out_shade(struct shade s)
{
	if (same_shade(s, pen.shade))
		return;
	bool colored = pen.shade.ink != INK_DEFAULT || pen.shade.ground != INK_DEFAULT;
	pen.shade = s;
	if (pen.colors >= COLORS_ALL) {
		theme_sgr(&pen.out, s);
		return;
	}
	/* bits of ncv: 2 underline, 4 reverse, 16 dim, 32 bold */
	int barred = s.ink == INK_DEFAULT && s.ground == INK_DEFAULT ? 0 : pen.no_color_marks;
	out_capability(exit_attribute_mode);
	if (colored)
		out_capability(orig_pair);
	if (s.marks & LOOK_BOLD && !(barred & 32))
		out_capability(enter_bold_mode);
	if (s.marks & LOOK_DIM && !(barred & 16))
		out_capability(enter_dim_mode);
	if (s.marks & LOOK_UNDERLINE && !(barred & 2))
		out_capability(enter_underline_mode);
	if (s.marks & LOOK_REVERSE && !(barred & 4))
		out_capability(enter_reverse_mode);
	if (s.ink != INK_DEFAULT)
		out_capability(tparm(set_a_foreground, (long)s.ink));
	if (s.ground != INK_DEFAULT)
		out_capability(tparm(set_a_background, (long)s.ground));
}

static void out_place(int x, int y)
{
	if (pen.x == x && pen.y == y)
		return;
	out_capability(tparm(cursor_address, (long)y, (long)x));
	pen.x = x;
	pen.y = y;
}

static bool is_blank(const struct cell *c, struct shade s)
{
	return c->code == ' ' && !c->mark && same_shade(s, plain);
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->code == b->code && a->mark == b->mark && a->style == b->style &&
		a->selected == b->selected && a->columns == b->columns;
}

static void out_cell(const struct cell *c, const struct theme *t, int x, int y)
{
	/* writing the last cell scrolls terminals that wrap at once */
	if (x + c->columns >= COLS && y == LINES - 1 && auto_right_margin && !eat_newline_glitch)
		return;
	out_place(x, y);
	out_shade(theme_shade(t, (enum style)c->style, c->selected, pen.colors));
	canvas_encode(&pen.out, c->code);
	if (c->mark)
		canvas_encode(&pen.out, c->mark);
	/* what terminals have other ideas of: how wide, and where the cursor is after the last column */
	bool sure = c->columns == 1 && !c->mark && x + 1 < COLS;
	pen.x = sure ? x + 1 : -1;
}

static bool is_changed(const struct cell *row, const struct cell *old, int x)
{
	return row[x].columns && (!old || !same_cell(&row[x], &old[x]) ||
		(row[x].columns == 2 && !same_cell(&row[x + 1], &old[x + 1])));
}

#define PLACE_COST 6 /* characters of a sequence that moves the cursor, about */

/* True if the cell is as before, but writing it again costs less than moving to the next one that changed. */
static bool is_bridge(const struct cell *row, const struct cell *old, const struct theme *t, int last, int x,
	int y)
{
	int end = x + PLACE_COST < last ? x + PLACE_COST : last;
	if (pen.x != x || pen.y != y || row[x].columns != 1 || row[x].mark || row[x].code > 0x7e ||
		!same_shade(theme_shade(t, (enum style)row[x].style, row[x].selected, pen.colors), pen.shade))
		return false;
	for (int at = x + 1; at < end; at++)
		if (is_changed(row, old, at))
			return true;
	return false;
}

/* old: what the row shows; NULL: nothing. */
static void out_row(const struct cell *row, const struct cell *old, const struct theme *t, int width, int y)
{
	int last = width;
	while (last > 0 && is_blank(&row[last - 1], theme_shade(t, (enum style)row[last - 1].style,
				row[last - 1].selected, pen.colors)))
		last--;
	for (int x = 0; x < last; x++)
		if (is_changed(row, old, x) || is_bridge(row, old, t, last, x, y))
			out_cell(&row[x], t, x, y);
	int changed = last;
	while (old && changed < width && same_cell(&row[changed], &old[changed]))
		changed++;
	if (!old || changed == width)
		return;
	out_place(changed, y);
	out_shade(plain);
	if (clr_eol)
		out_capability(clr_eol);
	else
		for (int x = changed; x < width; x++)
			out_cell(&row[x], t, x, y);
}

/* After the frame: where readers of the screen look. */
static void out_cursor(const struct canvas *c)
{
	bool shown = c->has_cursor && c->cursor_x < COLS && c->cursor_y < LINES;
	if (shown)
		out_place(c->cursor_x, c->cursor_y);
	out_capability(shown ? cursor_normal : cursor_invisible);
}

void term_show(const struct canvas *c, const struct theme *t, bool all)
{
	all |= pen.shown.width != c->width || pen.shown.height != c->height;
	if (!all && canvas_same(c, &pen.shown))
		return;
	int width = c->width < COLS ? c->width : COLS;
	pen.x = -1;
	out_capability(cursor_invisible); /* while it draws */
	if (all) {
		pen.shade = (struct shade){ INK_DEFAULT, INK_DEFAULT, ~0u };
		out_shade(plain);
		out_capability(clear_screen);
	}
	for (int y = 0; y < c->height && y < LINES; y++) {
		size_t at = (size_t)y * (size_t)c->width;
		out_row(&c->cells[at], all ? NULL : &pen.shown.cells[at], t, width, y);
	}
	out_shade(plain);
	out_cursor(c);
	out_send();
	if (pen.shown.width != c->width || pen.shown.height != c->height)
		canvas_resize(&pen.shown, c->width, c->height);
	pen.shown.has_cursor = c->has_cursor;
	pen.shown.cursor_x = c->cursor_x;
	pen.shown.cursor_y = c->cursor_y;
	memcpy(pen.shown.cells, c->cells, (size_t)c->width * (size_t)c->height * sizeof(*c->cells));
}
