/* Turns bytes into events. After ESC a short wait decides between the key and a sequence. */
#include "config.h"

#include "ui/screen/term_in.h"

#include "base/clock.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The rest of a string that was dropped may come as late as this, at once and with its end. */
#define REST_MS 30000
#define REST_MOST 256 /* codes */

/* A letter (OK) or a key of curses (KEY_CODE_YES); typed: it begins no sequence. */
struct code {
	int status;
	wint_t code;
	bool typed;
};

static struct {
	WINDOW *keyboard;        /* a pad: reading from it draws nothing */
	bool pasting;            /* the keys are pasted text */
	struct reply reply;      /* being read */
	bool late;               /* it began after an ESC that was taken for the key, or without one */
	int64_t reply_ms;        /* when its last code came, as clock_ms */
	int64_t escape_ms;       /* when Esc was typed without a code after it */
	int64_t dropped_ms;      /* when a string without an end was dropped */
	struct code held[REST_MOST + 4]; /* codes read too far, the next first */
	int held_count;
	mbstate_t decoding;      /* of the letter whose first bytes came */
} in;

void in_open(void)
{
	memset(&in, 0, sizeof(in));
	in.escape_ms = -REPLY_ESCAPE_MS;
	in.dropped_ms = -REST_MS;
	in.keyboard = newpad(1, 1);
	if (!in.keyboard)
		abort();
	keypad(in.keyboard, TRUE);
	nodelay(in.keyboard, TRUE);
}

void in_close(void)
{
	if (in.keyboard)
		delwin(in.keyboard);
	in.keyboard = NULL;
}

bool in_is_open(void)
{
	return in.keyboard;
}

bool in_is_held(void)
{
	return in.held_count;
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

/* A byte of the keyboard as a code; false: it is part of a letter, or none. A byte that begins no letter may
 * be a control code of 8 bits. */
static bool code_decode(unsigned char byte, wint_t *code)
{
	wchar_t letter = 0;
	bool begins = mbsinit(&in.decoding);
	size_t n = mbrtowc(&letter, (const char *)&byte, 1, &in.decoding);
	*code = n == (size_t)-1 ? byte : (wint_t)letter;
	if (n != (size_t)-1)
		return n != (size_t)-2;
	memset(&in.decoding, 0, sizeof(in.decoding));
	return begins ? byte >= 0x80 && byte <= 0x9f : code_decode(byte, code);
}

/* The next code from the keyboard; false: none. */
static bool code_take(struct code *c)
{
	if (in.held_count) {
		*c = in.held[0];
		memmove(in.held, in.held + 1, (size_t)--in.held_count * sizeof(*in.held));
		return true;
	}
	for (int got; (got = wgetch(in.keyboard)) != ERR;) {
		*c = (struct code){ .status = got >= KEY_MIN ? KEY_CODE_YES : OK, .code = (wint_t)got };
		if (got == KEY_RESIZE) /* curses reports a resize as a key */
			continue;
		if (c->status == KEY_CODE_YES || code_decode((unsigned char)got, &c->code))
			return true;
	}
	return false;
}

/* The code is read again, before all others. */
static void code_hold(struct code c)
{
	memmove(in.held + 1, in.held, (size_t)in.held_count++ * sizeof(*in.held));
	in.held[0] = c;
}

/* What was taken for the beginning of a sequence was typed. */
static void reply_is_typed(void)
{
	in.reply.kind = REPLY_NONE;
	code_hold((struct code){ OK, in.reply.first, true });
	if (!in.late)
		code_hold((struct code){ OK, KEY_CODE_ESC, true });
}

/* Whether the code and those that are there with it are the rest of a dropped string, up to its end. */
static bool rest_take(const struct code *c)
{
	struct code rest[REST_MOST] = { *c };
	int n = 1;
	bool ends = false, begins = false;
	if (clock_ms() - in.dropped_ms > REST_MS || in.pasting || c->status != OK || c->typed)
		return false;
	for (;; n++) {
		wint_t last = rest[n - 1].code;
		bool escaped = n > 1 && rest[n - 2].code == KEY_CODE_ESC;
		ends = last == 0x07 || last == 0x9c || (escaped && last == '\\');
		begins = escaped && !ends; /* another sequence */
		if (ends || begins || n == REST_MOST || rest[n - 1].status != OK || !code_take(&rest[n]))
			break;
	}
	if (ends)
		in.dropped_ms = -REST_MS;
	for (int i = n - 1; i > 0 && !ends; i--)
		code_hold(rest[i]);
	return ends;
}

/* Whether a sequence of the terminal begins with the code, rather than keys. Its rest may come later, also
 * after an ESC that was taken for the key. */
static bool reply_starts(const struct code *c)
{
	struct code next = *c;
	bool late = clock_ms() - in.escape_ms < REPLY_ESCAPE_MS;
	if (c->status != OK || c->typed)
		return false;
	in.escape_ms = -REPLY_ESCAPE_MS;
	if (c->code == KEY_CODE_ESC && !code_take(&next)) {
		in.escape_ms = clock_ms();
		return false;
	}
	bool first = c->code == KEY_CODE_ESC || late || (c->code >= 0x80 && c->code <= 0x9f);
	bool pasted = in.pasting && next.code != '['; /* only its end begins with ESC */
	if (first && next.status == OK && !pasted && reply_begin(&in.reply, next.code)) {
		in.late = c->code != KEY_CODE_ESC;
		return true;
	}
	if (c->code == KEY_CODE_ESC)
		code_hold(next);
	return false;
}

static enum term_event reply_event(struct term_value *value, bool mouse)
{
	struct reply r = in.reply;
	in.reply.kind = REPLY_NONE;
	bool begins = reply_pastes(&r, true);
	if (begins || reply_pastes(&r, false))
		in.pasting = begins;
	if (reply_mouse(&r, &value->mouse))
		return mouse ? TERM_MOUSE : TERM_TIMEOUT;
	return reply_ground(&r, &value->key) ? TERM_GROUND : TERM_TIMEOUT;
}

/* Adds a code to the sequence that is being read. */
static enum term_event reply_take(const struct code *c, struct term_value *value, bool mouse)
{
	enum reply_step step = reply_add(&in.reply, (uint32_t)c->code);
	in.reply_ms = clock_ms();
	if (step == REPLY_ENDED)
		return reply_event(value, mouse);
	if (step == REPLY_MORE)
		return TERM_TIMEOUT;
	code_hold(*c);
	if (step == REPLY_KEYS)
		reply_is_typed();
	else
		code_hold((struct code){ OK, KEY_CODE_ESC, false });
	in.reply.kind = REPLY_NONE;
	return TERM_TIMEOUT;
}

int in_due_ms(void)
{
	int most = in.reply.kind == REPLY_ESCAPE ? REPLY_ESCAPE_MS : REPLY_MS;
	int64_t left = in.reply_ms + most - clock_ms();
	return in.reply.kind == REPLY_NONE ? -1 : left > 0 ? (int)left : 0;
}

/* A sequence without an end: what may have been typed was typed, the rest is dropped. */
static void reply_give_up(void)
{
	if (in.reply.kind == REPLY_ESCAPE)
		reply_is_typed();
	else if (in.reply.kind == REPLY_STRING)
		in.dropped_ms = clock_ms();
	in.reply.kind = REPLY_NONE;
}

enum term_event in_take(struct term_value *value, bool mouse)
{
	struct code c;
	for (;;) {
		if (!code_take(&c)) {
			if (in_due_ms() != 0)
				return TERM_TIMEOUT;
			reply_give_up();
			continue;
		}
		bool again = c.status != OK || (c.code == KEY_CODE_ESC && in.reply.kind != REPLY_STRING &&
			in.reply.kind != REPLY_ESCAPE); /* it was cut */
		if (in.reply.kind == REPLY_ESCAPE && again) {
			code_hold(c);
			reply_is_typed();
			continue;
		}
		if (in.reply.kind && !again) {
			enum term_event event = reply_take(&c, value, mouse);
			if (event != TERM_TIMEOUT)
				return event;
			continue;
		}
		in.reply.kind = REPLY_NONE;
		if (rest_take(&c))
			continue;
		if (reply_starts(&c)) {
			in.reply_ms = clock_ms();
			continue;
		}
		value->key = key_of(c.status, c.code);
		/* Esc by itself: the end of the paste was lost; with more at once it is pasted too */
		in.pasting = in.pasting && (value->key != KEY_CODE_ESC || in.held_count);
		return in.pasting ? TERM_PASTED : TERM_KEY;
	}
}
