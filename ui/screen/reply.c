/* A state machine for escape sequences that terminals send, fed code by code. */
#include "config.h"

#include "ui/screen/reply.h"

#include <stdlib.h>
#include <string.h>

#define BEL 0x07
#define CANCEL 0x18
#define SUBSTITUTE 0x1a
#define ESCAPE 0x1b
#define STRING_END 0x9c /* ST of 8 bits */

bool reply_begin(struct reply *r, uint32_t code)
{
	bool whole = code >= 0x90 && code <= 0x9f; /* of 8 bits: ESC and a letter in one */
	uint32_t letter = whole ? code - 0x40 : code;
	*r = (struct reply){ .kind = REPLY_NONE, .first = letter };
	if (letter == '[')
		r->kind = whole ? REPLY_CONTROL : REPLY_ESCAPE;
	else if (letter == ']' || letter == 'P' || letter == 'X' || letter == '^' || letter == '_')
		r->kind = whole ? REPLY_STRING : REPLY_ESCAPE;
	return r->kind;
}

static void keep(struct reply *r, uint32_t code)
{
	r->lost |= r->n + 1 >= REPLY_MAX || code == 0 || code > 0xff;
	if (r->lost)
		return;
	r->text[r->n++] = (char)code;
	r->text[r->n] = '\0';
}

/* What ESC, `first` and a code begin; REPLY_NONE: they were typed, like "[c" and "]c". */
static enum reply_kind kind_after(uint32_t first, uint32_t code)
{
	bool digit = code >= '0' && code <= '9';
	if (first == '[')
		return code == 'M' ? REPLY_OLD_MOUSE : digit || (code >= '<' && code <= '?') ||
			(code >= 'A' && code <= '[') ? REPLY_CONTROL : REPLY_NONE;
	if (first == ']')
		return digit || code == 'l' || code == 'L' ? REPLY_STRING : REPLY_NONE;
	return code >= ' ' || code == ESCAPE ? REPLY_STRING : REPLY_NONE;
}

static enum reply_step string_add(struct reply *r, uint32_t code)
{
	if (r->escaped)
		return code == '\\' ? REPLY_ENDED : REPLY_CUT;
	if (code == BEL || code == STRING_END || code == CANCEL || code == SUBSTITUTE)
		return REPLY_ENDED;
	r->escaped = code == ESCAPE;
	if (!r->escaped)
		keep(r, code);
	return REPLY_MORE;
}

enum reply_step reply_add(struct reply *r, uint32_t code)
{
	bool begins = r->kind == REPLY_ESCAPE;
	if (begins) {
		r->kind = kind_after(r->first, code);
		if (r->kind == REPLY_NONE)
			return REPLY_KEYS;
		if (r->kind == REPLY_OLD_MOUSE)
			return REPLY_MORE;
	}
	if (r->kind == REPLY_STRING)
		return string_add(r, code);
	keep(r, code);
	if (r->kind == REPLY_OLD_MOUSE)
		return r->n == 3 || r->lost ? REPLY_ENDED : REPLY_MORE;
	/* parameters are 0x20 to 0x3f; the keys F1 to F5 of the Linux console are ESC [ [ and a letter */
	bool more = (code >= ' ' && code <= '?') || (begins && code == '[');
	return more ? REPLY_MORE : REPLY_ENDED;
}

static bool mouse_of(int button, int x, int y, struct mouse *out)
{
	int modifiers = 4 | 8 | 16;
	if (x < 0 || y < 0 || x > 9999 || y > 9999)
		return false;
	out->x = x;
	out->y = y;
	button &= ~modifiers;
	if (button != 0 && button != 64 && button != 65)
		return false; /* other buttons, and moves */
	out->kind = button == 0 ? MOUSE_PRESS : button == 64 ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN;
	return true;
}

/* "<0;12;5M"; `m` at the end: released. */
static bool mouse_parse(const char *text, struct mouse *out)
{
	long number[3];
	char *end;
	for (int i = 0; i < 3; i++) {
		if (*text != (i ? ';' : '<') || text[1] < '0' || text[1] > '9')
			return false;
		number[i] = strtol(text + 1, &end, 10);
		if (number[i] < 0 || number[i] > 100000)
			return false;
		text = end;
	}
	return strcmp(text, "M") == 0 &&
		mouse_of((int)number[0], (int)number[1] - 1, (int)number[2] - 1, out);
}

bool reply_mouse(const struct reply *r, struct mouse *out)
{
	const unsigned char *b = (const unsigned char *)r->text;
	if (r->lost)
		return false;
	if (r->kind == REPLY_OLD_MOUSE)
		return mouse_of(b[0] - 32, b[1] - 33, b[2] - 33, out);
	return r->kind == REPLY_CONTROL && mouse_parse(r->text, out);
}

bool reply_pastes(const struct reply *r, bool begin)
{
	return r->kind == REPLY_CONTROL && !r->lost && strcmp(r->text, begin ? "200~" : "201~") == 0;
}

/* One to four hexadecimal digits as a byte; false: none. */
static bool channel(const char **p, uint32_t *value)
{
	int n = 0;
	unsigned long all = 0;
	for (; n < 5; n++, (*p)++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *at = **p ? strchr(digits, **p) : NULL;
		if (!at)
			break;
		all = all << 4 | (unsigned long)((at - digits) % 16);
	}
	if (n < 1 || n > 4)
		return false;
	*value = (uint32_t)(all * 255 / ((1ul << 4 * n) - 1));
	return true;
}

/* OSC 11 */
static bool ground_parse(const struct reply *r, uint32_t *rgb)
{
	static const char start[] = "11;rgb:";
	const char *p = r->text + sizeof(start) - 1;
	uint32_t all[3];
	if (r->first != ']' || strncmp(r->text, start, sizeof(start) - 1) != 0)
		return false;
	for (int i = 0; i < 3; i++)
		if ((i && *p++ != '/') || !channel(&p, &all[i]))
			return false;
	if (*p)
		return false;
	*rgb = all[0] << 16 | all[1] << 8 | all[2];
	return true;
}

bool reply_ground(const struct reply *r, uint32_t *rgb)
{
	bool dark = strcmp(r->text, "?997;1n") == 0, light = strcmp(r->text, "?997;2n") == 0;
	if (r->lost)
		return false;
	if (r->kind == REPLY_CONTROL && (dark || light))
		*rgb = light ? 0xffffff : 0;
	return r->kind == REPLY_CONTROL ? dark || light : r->kind == REPLY_STRING && ground_parse(r, rgb);
}
