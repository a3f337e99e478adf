#include "config.h"

#include "ui/screen/term.h"
#include "ui/screen/clipboard.h"

#include "base/arena.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
/* term.h defines a macro for every capability */
#undef columns
#undef lines

static struct {
	SCREEN *screen;
	FILE *file;              /* /dev/tty if stdin is not a terminal, else NULL */
	int fd;                  /* the keyboard */
	bool color;
	struct canvas shown;
	int wake[2];             /* signal handlers write a byte here */
} term = { .fd = -1, .wake = { -1, -1 } };

/* Data of the signal handlers, filled before they are installed. */
static struct termios saved_modes;
static char leave_text[128];
static size_t leave_bytes;
static volatile sig_atomic_t end_signal, was_resized, was_continued;
static int leave_fd = -1;

static void leave_add(const char *capability)
{
	const char *s = tigetstr(capability);
	if (!s || s == (const char *)-1)
		return;
	while (*s && leave_bytes < sizeof(leave_text)) {
		if (s[0] == '$' && s[1] == '<') { /* padding */
			const char *end = strchr(s, '>');
			s = end ? end + 1 : s + strlen(s);
		} else
			leave_text[leave_bytes++] = *s++;
	}
}

/* Async-signal-safe: calls only write and tcsetattr. */
static void leave_now(void)
{
	ssize_t ignored = write(leave_fd, leave_text, leave_bytes);
	(void)ignored;
	tcsetattr(leave_fd, TCSANOW, &saved_modes);
}

static void wake(void)
{
	int saved = errno;
	ssize_t ignored = write(term.wake[1], "", 1);
	(void)ignored;
	errno = saved;
}

/* The first signal asks the loop to end; the second ends the program at once. */
static void on_end(int number)
{
	if (end_signal) {
		leave_now();
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	end_signal = number;
	wake();
}

static void on_fatal(int number)
{
	leave_now();
	signal(number, SIG_DFL);
	raise(number);
}

static void on_resize(int number)
{
	(void)number;
	was_resized = 1;
	wake();
}

static void on_continue(int number)
{
	(void)number;
	was_continued = 1;
	wake();
}

static const struct {
	int number;
	void (*handler)(int);
	int flags;
} handlers[] = {
	{ SIGINT, on_end, 0 },
	{ SIGTERM, on_end, 0 },
	{ SIGHUP, on_end, 0 },
	{ SIGQUIT, on_end, 0 },
	{ SIGSEGV, on_fatal, SA_RESETHAND },
	{ SIGBUS, on_fatal, SA_RESETHAND },
	{ SIGFPE, on_fatal, SA_RESETHAND },
	{ SIGILL, on_fatal, SA_RESETHAND },
	{ SIGABRT, on_fatal, SA_RESETHAND },
	{ SIGWINCH, on_resize, SA_RESTART },
	{ SIGCONT, on_continue, SA_RESTART },
};

#define HANDLER_COUNT (sizeof(handlers) / sizeof(*handlers))

static struct sigaction saved_actions[HANDLER_COUNT];
static bool handlers_are_on;

static void handlers_install(void)
{
	handlers_are_on = true;
	for (size_t i = 0; i < HANDLER_COUNT; i++) {
		struct sigaction action = { .sa_handler = handlers[i].handler,
			.sa_flags = handlers[i].flags };
		sigemptyset(&action.sa_mask);
		sigaction(handlers[i].number, &action, &saved_actions[i]);
	}
}

static void handlers_remove(void)
{
	handlers_are_on = false;
	for (size_t i = 0; i < HANDLER_COUNT; i++)
		sigaction(handlers[i].number, &saved_actions[i], NULL);
}

static int wake_open(struct error *err)
{
	if (pipe(term.wake))
		return error_set(err, "pipe: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		fcntl(term.wake[i], F_SETFD, FD_CLOEXEC);
		fcntl(term.wake[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

/* Colour pairs on the terminal's default background. */
static void colors_start(bool wanted)
{
	static const short of_style[STYLE_COUNT] = {
		[STYLE_GOOD] = COLOR_GREEN,
		[STYLE_WARN] = COLOR_YELLOW,
		[STYLE_BAD] = COLOR_RED,
		[STYLE_ACCENT] = COLOR_CYAN,
		[STYLE_CRITICAL] = COLOR_MAGENTA,
		[STYLE_HEADER] = COLOR_BLUE,
	};
	const char *no_color = getenv("NO_COLOR");
	term.color = wanted && !(no_color && no_color[0]) && has_colors() && start_color() == OK;
	if (!term.color)
		return;
	short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
	for (short i = 0; i < STYLE_COUNT; i++)
		if (of_style[i])
			init_pair((short)(i + 1), of_style[i], background);
}

static int screen_open(struct error *err)
{
	setlocale(LC_CTYPE, "");
	FILE *in = stdin;
	if (!isatty(STDOUT_FILENO))
		return error_set(err, "the explorer needs a terminal: standard output is not one");
	if (!isatty(STDIN_FILENO)) {
		in = term.file = fopen("/dev/tty", "r+e");
		if (!in)
			return error_set(err, "the explorer needs a terminal: /dev/tty: %s", strerror(errno));
	}
	term.fd = fileno(in);
	leave_fd = STDOUT_FILENO;
	if (tcgetattr(STDOUT_FILENO, &saved_modes))
		return error_set(err, "cannot read the terminal's settings: %s", strerror(errno));
	int found = 0; /* checked first: a failed newterm leaks memory */
	bool known = setupterm(NULL, STDOUT_FILENO, &found) == OK;
	if (known)
		del_curterm(cur_term);
	term.screen = known ? newterm(NULL, stdout, in) : NULL;
	if (!term.screen)
		return error_set(err,
			"no terminfo entry for terminal \"%s\": set TERM to an installed one",
			getenv("TERM") ? getenv("TERM") : "");
	set_term(term.screen);
	const char *place = tigetstr("cup");
	if (!place || place == (const char *)-1)
		return error_set(err, "terminal \"%s\" cannot move the cursor",
			getenv("TERM") ? getenv("TERM") : "");
	return 0;
}

/* Disables ^S, which would freeze the screen without a hint that ^Q continues. */
static void flow_control_off(void)
{
	struct termios modes;
	if (tcgetattr(STDOUT_FILENO, &modes))
		return;
	modes.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(STDOUT_FILENO, TCSADRAIN, &modes);
	def_prog_mode(); /* curses returns to these modes after a stop */
}

static void screen_close(void)
{
	if (term.screen) {
		const char *back = tigetstr("rmcup");
		if (handlers_are_on && (!back || back == (const char *)-1)) {
			/* no alternate screen: start the shell's prompt on a new line */
			move(LINES - 1, 0);
			clrtoeol();
			refresh();
		}
		endwin();
		delscreen(term.screen);
		term.screen = NULL;
	}
	if (term.file)
		fclose(term.file);
	term.file = NULL;
	for (int i = 0; i < 2; i++) {
		if (term.wake[i] >= 0)
			close(term.wake[i]);
		term.wake[i] = -1;
	}
	canvas_free(&term.shown);
}

int term_open(bool color, struct error *err)
{
	end_signal = was_resized = was_continued = 0;
	leave_bytes = 0;
	if (wake_open(err) || screen_open(err)) {
		screen_close();
		return -1;
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	flow_control_off();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	colors_start(color);
	leave_add("sgr0");
	leave_add("rmkx");
	leave_add("cnorm");
	leave_add("rmcup");
	handlers_install();
	return 0;
}

void term_close(void)
{
	if (!term.screen)
		return;
	screen_close();
	handlers_remove();
}

bool term_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void term_size(int *columns, int *rows)
{
	*columns = COLS;
	*rows = LINES;
}

/* Attributes without colour: every style with a meaning still differs from plain text. */
static attr_t attributes_of(const struct cell *c)
{
	static const attr_t colored[STYLE_COUNT] = {
		[STYLE_DIM] = A_DIM, [STYLE_BOLD] = A_BOLD, [STYLE_REVERSE] = A_REVERSE, [STYLE_BAD] = A_BOLD,
		[STYLE_CRITICAL] = A_BOLD, [STYLE_HEADER] = A_BOLD,
	};
	static const attr_t plain[STYLE_COUNT] = {
		[STYLE_DIM] = A_DIM,
		[STYLE_BOLD] = A_BOLD,
		[STYLE_REVERSE] = A_REVERSE,
		[STYLE_WARN] = A_BOLD,
		[STYLE_BAD] = A_BOLD | A_UNDERLINE,
		[STYLE_CRITICAL] = A_BOLD,
		[STYLE_HEADER] = A_BOLD | A_UNDERLINE,
	};
	attr_t a = term.color ? colored[c->style] : plain[c->style];
	return c->selected ? (a & ~A_DIM) | A_REVERSE : a;
}

static short pair_of(const struct cell *c)
{
	bool colored = c->style >= STYLE_GOOD && term.color;
	return colored ? (short)(c->style + 1) : 0;
}

void term_show(const struct canvas *c, bool all)
{
	if (!all && canvas_same(c, &term.shown))
		return;
	if (all)
		clearok(stdscr, TRUE);
	for (int y = 0; y < c->height && y < LINES; y++)
		for (int x = 0; x < c->width && x < COLS; x++) {
			const struct cell *cell = &c->cells[(size_t)y * (size_t)c->width + (size_t)x];
			if (cell->columns == 0)
				continue;
			wchar_t text[3] = { (wchar_t)cell->code, (wchar_t)cell->mark, 0 };
			cchar_t out;
			if (setcchar(&out, text, attributes_of(cell), pair_of(cell), NULL) == OK)
				mvadd_wch(y, x, &out);
		}
	refresh();
	if (term.shown.width != c->width || term.shown.height != c->height)
		canvas_resize(&term.shown, c->width, c->height);
	memcpy(term.shown.cells, c->cells, (size_t)c->width * (size_t)c->height * sizeof(*c->cells));
}

static uint32_t key_of(int status, wint_t code)
{
	static const struct {
		wint_t curses;
		uint32_t key;
	} table[] = {
		{ KEY_UP, KEY_CODE_UP },
		{ KEY_DOWN, KEY_CODE_DOWN },
		{ KEY_LEFT, KEY_CODE_LEFT },
		{ KEY_RIGHT, KEY_CODE_RIGHT },
		{ KEY_HOME, KEY_CODE_HOME },
		{ KEY_END, KEY_CODE_END },
		{ KEY_PPAGE, KEY_CODE_PAGE_UP },
		{ KEY_NPAGE, KEY_CODE_PAGE_DOWN },
		{ KEY_BTAB, KEY_CODE_BACKTAB },
		{ KEY_DC, KEY_CODE_DELETE },
		{ KEY_BACKSPACE, KEY_CODE_BACKSPACE },
		{ KEY_ENTER, KEY_CODE_ENTER },
	};
	if (status == OK)
		return code == '\n' ? KEY_CODE_ENTER : (uint32_t)code;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].curses == code)
			return table[i].key;
	if (code >= KEY_F(1) && code <= KEY_F(12))
		return KEY_CODE_F1 + (uint32_t)(code - KEY_F(1));
	return KEY_CODE_NONE;
}

static bool resize_take(void)
{
	struct winsize size;
	was_resized = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row == 0 || size.ws_col == 0)
		return false;
	resizeterm(size.ws_row, size.ws_col);
	return true;
}

void term_copy(struct text t)
{
	struct str out = { 0 };
	clipboard_sequence(&out, t);
	fflush(stdout);
	for (size_t done = 0; done < out.n;) {
		ssize_t n = write(STDOUT_FILENO, out.p + done, out.n - done);
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	str_free(&out);
}

static bool key_take(uint32_t *key)
{
	wint_t code;
	int status;
	do /* curses reports a resize as a key: skip it */
		status = get_wch(&code);
	while (status == KEY_CODE_YES && code == KEY_RESIZE);
	if (status == ERR)
		return false;
	*key = key_of(status, code);
	return true;
}

enum term_event term_wait(int fd, int timeout_ms, uint32_t *key)
{
	*key = KEY_CODE_NONE;
	if (!end_signal && !was_resized && key_take(key))
		return TERM_KEY;
	struct pollfd polled[3] = { { term.wake[0], POLLIN, 0 }, { term.fd, POLLIN, 0 }, { fd, POLLIN, 0 } };
	int ready =
		end_signal || was_resized || was_continued ? 0 : poll(polled, fd >= 0 ? 3 : 2, timeout_ms);
	char drained[64];
	while (read(term.wake[0], drained, sizeof(drained)) > 0)
		;
	if (end_signal) {
		*key = (uint32_t)end_signal;
		return TERM_SIGNAL;
	}
	if (was_resized && resize_take())
		return TERM_RESIZE;
	if (was_continued) {
		was_continued = 0;
		clearok(stdscr, TRUE);
		canvas_free(&term.shown);
		return TERM_RESIZE;
	}
	if (ready <= 0)
		return TERM_TIMEOUT;
	if (polled[1].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		*key = SIGHUP;
		return TERM_SIGNAL;
	}
	if (polled[1].revents && key_take(key))
		return TERM_KEY;
	return polled[2].revents ? TERM_WAKE : TERM_TIMEOUT;
}
