/* Opens the terminal, restores it on every way out, and waits for input, signals and runners. */
#include "config.h"

#include "ui/screen/term.h"
#include "ui/screen/clipboard.h"
#include "ui/screen/term_in.h"
#include "ui/screen/term_out.h"

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
	int colors;              /* as term_colors */
	bool mouse, mouse_known; /* on; the terminal has one */
	bool asked;              /* an emulator that knows xterm's questions, in colours */
	int wake[2];             /* signal handlers write a byte here */
} term = { .fd = -1, .wake = { -1, -1 } };

/* Data of the signal handlers, filled before they are installed. */
static struct termios saved_modes;
static bool modes_are_changed;
static char leave_text[128];
static size_t leave_bytes;
static volatile sig_atomic_t end_signal, was_resized, was_continued, was_stopped;
static int leave_fd = -1;

static const char mouse_on[] = "\033[?1000h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1000l";
/* Bracketed paste: pasted text comes between ESC [ 200 ~ and ESC [ 201 ~. */
static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

/* Reports of a change between light and dark: CSI ? 997 ; 1 n and ; 2 n. */
static const char scheme_on[] = "\033[?2031h", scheme_off[] = "\033[?2031l";

static void leave_add(const char *s)
{
	if (!s)
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

/* ^Z: the loop restores the terminal first. */
static void on_stop(int number)
{
	(void)number;
	was_stopped = 1;
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
	{ SIGTSTP, on_stop, SA_RESTART },
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
		sigaction(handlers[i].number, NULL, &saved_actions[i]);
		if (handlers[i].number != SIGTSTP || saved_actions[i].sa_handler != SIG_IGN)
			sigaction(handlers[i].number, &action, NULL);
	}
}

static void handlers_remove(void)
{
	if (!handlers_are_on)
		return;
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

/* Of the terminal that curses has set up. COLORTERM says more than terminfo; in GNU screen it is that of the
 * terminal around it, whose colours screen does not pass on. */
static int colors_known(bool wanted)
{
	const char *no_color = getenv("NO_COLOR"), *more = getenv("COLORTERM"), *name = getenv("TERM");
	int count = tigetnum("colors");
	if (!wanted || (no_color && no_color[0]) || count < 8 || !out_find("setaf") || !out_find("setab"))
		return COLORS_NONE;
	bool screen = name && strncmp(name, "screen", 6) == 0 && !getenv("TMUX");
	bool all = more && !screen && (strcmp(more, "truecolor") == 0 || strcmp(more, "24bit") == 0);
	all |= tigetflag("RGB") > 0 || tigetnum("RGB") > 0 || tigetflag("Tc") > 0;
	return count >= 256 && all ? COLORS_ALL : count >= 256 ? 256 : count >= 16 ? 16 : 8;
}

int term_colors(bool color)
{
	int found = 0;
	if (term.screen)
		return term.colors;
	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return COLORS_NONE;
	int colors = colors_known(color);
	del_curterm(cur_term);
	return colors;
}

static void mouse_send(bool on)
{
	if (term.mouse_known)
		out_text(on ? mouse_on : mouse_off);
}

/* What the terminal reports besides keys, as far as it is on. */
static void reports_send(bool on)
{
	if (term.mouse)
		mouse_send(on);
	if (term.mouse_known) /* an emulator of a kind that also has this */
		out_text(on ? paste_on : paste_off);
	if (term.asked)
		out_text(on ? scheme_on : scheme_off);
}

void term_mouse(bool on)
{
	if (!term.screen || on == term.mouse)
		return;
	mouse_send(on);
	term.mouse = on;
	out_send();
}

/* Disables ^S, which would freeze the screen without a hint that ^Q continues. Output that ^S stopped before
 * the program was ready goes on. A read returns without input (VMIN 0): ^Z may discard the input between the
 * poll and the read of curses, which would then wait for the next key. */
static void modes_set(void)
{
	struct termios modes;
	if (tcgetattr(STDOUT_FILENO, &modes))
		return;
	modes.c_iflag &= ~(tcflag_t)IXON;
	modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
	tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
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
	handlers_install(); /* before curses, whose own handlers end the program with status 1 */
	modes_are_changed = true;
	modes_set(); /* before curses writes anything */
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

static void screen_close(void)
{
	if (term.screen) {
		reports_send(false);
		out_plain();
		if (in_is_open() && !out_find("rmcup")) {
			/* no alternate screen: start the shell's prompt on a new line */
			out_last_row();
		}
		out_send();
		endwin();
		in_close();
		delscreen(term.screen);
		term.screen = NULL;
	}
	if (modes_are_changed) /* curses saw them without flow control */
		tcsetattr(STDOUT_FILENO, TCSADRAIN, &saved_modes);
	modes_are_changed = false;
	out_free();
	if (term.file)
		fclose(term.file);
	term.file = NULL;
	for (int i = 0; i < 2; i++) {
		if (term.wake[i] >= 0)
			close(term.wake[i]);
		term.wake[i] = -1;
	}
}

int term_open(const struct term_options *o, struct error *err)
{
	end_signal = was_resized = was_continued = was_stopped = 0;
	leave_bytes = 0;
	term.mouse = false;
	if (wake_open(err) || screen_open(err)) {
		screen_close();
		handlers_remove();
		return -1;
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	modes_set();
	def_prog_mode(); /* curses returns to these modes after a stop */
	refresh(); /* the alternate screen; curses draws nothing else */
	in_open();
	curs_set(0);
	term.colors = colors_known(o->color);
	out_colors(term.colors, tigetnum("ncv"));
	const char *mouse = out_find("kmous");
	term.mouse_known = mouse != NULL;
	if (mouse) /* as any other sequence: curses would take it for itself */
		define_key(mouse, 0);
	if (term.mouse_known) {
		leave_add(mouse_off);
		leave_add(paste_off);
	}
	/* a terminal that knows xterm's questions answers among the keys; others are not asked */
	term.asked = o->color && tigetflag("XT") > 0;
	if (term.asked)
		leave_add(scheme_off);
	leave_add(out_find("sgr0"));
	leave_add(out_find("rmkx"));
	leave_add(out_find("cnorm"));
	leave_add(out_find("rmcup"));
	if (term.asked && o->ask_ground)
		out_text("\033]11;?\033\\");
	reports_send(true);
	out_send();
	term_mouse(o->mouse);
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
	out_text(out.p);
	out_send();
	str_free(&out);
}

/* Nothing that is on the screen is known any more. */
static void screen_again(void)
{
	out_forget();
	reports_send(true);
	out_send();
}

static void stop(void)
{
	was_stopped = 0;
	reports_send(false);
	out_send();
	endwin();
	tcsetattr(STDOUT_FILENO, TCSADRAIN, &saved_modes);
	struct sigaction once = { .sa_handler = SIG_DFL }, own;
	sigemptyset(&once.sa_mask);
	sigaction(SIGTSTP, &once, &own);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &own, NULL);
	modes_set(); /* ^S may have been typed meanwhile */
	refresh();
	was_continued = 1;
	was_resized = 1;
}

bool term_has_input(void)
{
	struct pollfd keyboard = { term.fd, POLLIN, 0 };
	return in_is_held() || (poll(&keyboard, 1, 0) > 0 && keyboard.revents == POLLIN);
}

enum term_event term_wait(int fd, int timeout_ms, struct term_value *value)
{
	*value = (struct term_value){ .key = KEY_CODE_NONE };
	enum term_event event = end_signal || was_resized ? TERM_TIMEOUT : in_take(value, term.mouse);
	if (event != TERM_TIMEOUT)
		return event;
	struct pollfd polled[3] = { { term.wake[0], POLLIN, 0 }, { term.fd, POLLIN, 0 }, { fd, POLLIN, 0 } };
	int left = in_due_ms();
	timeout_ms = left >= 0 && (timeout_ms < 0 || left < timeout_ms) ? left : timeout_ms;
	int ready = end_signal || was_resized || was_continued || was_stopped ? 0 :
		poll(polled, fd >= 0 ? 3 : 2, timeout_ms);
	char drained[64];
	while (read(term.wake[0], drained, sizeof(drained)) > 0)
		;
	if (end_signal) {
		value->key = (uint32_t)end_signal;
		return TERM_SIGNAL;
	}
	if (was_stopped)
		stop();
	if (was_resized && resize_take() && !was_continued)
		return TERM_RESIZE;
	if (was_continued) {
		was_continued = 0;
		screen_again();
		return TERM_RESIZE;
	}
	if (ready <= 0)
		return TERM_TIMEOUT;
	if (polled[1].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		value->key = SIGHUP;
		return TERM_SIGNAL;
	}
	event = polled[1].revents ? in_take(value, term.mouse) : TERM_TIMEOUT;
	return event != TERM_TIMEOUT ? event : polled[2].revents ? TERM_WAKE : TERM_TIMEOUT;
}
