#include "config.h"

#include "ui/screen/reply.h"

#include <stdlib.h>
#include <string.h>

bool reply_begin(struct reply *r, uint32_t first, uint32_t second)
{
	bool digit = second >= '0' && second <= '9';
	*r = (struct reply){ .kind = REPLY_NONE };
	/* "Esc [c" and "Esc ]c" are keys */
	if (first == '[' && second == 'M')
		r->kind = REPLY_OLD_MOUSE;
	else if (first == '[' && (digit || (second >= '<' && second <= '?')))
		r->kind = REPLY_CONTROL;
	else if (first == ']' && digit)
		r->kind = REPLY_STRING;
	else
		return false;
	if (r->kind != REPLY_OLD_MOUSE)
		r->text[r->n++] = (char)second;
	return true;
}

static void keep(struct reply *r, uint32_t code)
{
	r->lost |= r->n + 1 >= REPLY_MAX || code == 0 || code > 0xff;
	if (r->lost)
		return;
	r->text[r->n++] = (char)code;
	r->text[r->n] = '\0';
}

bool reply_add(struct reply *r, uint32_t code)
{
	if (r->kind == REPLY_STRING) {
		if (code == 7 || r->escaped)
			return true;
		r->escaped = code == 27;
		if (!r->escaped)
			keep(r, code);
		return false;
	}
	keep(r, code);
	/* parameters are 0x20 to 0x3f */
	return r->kind == REPLY_OLD_MOUSE ? r->n == 3 || r->lost : code < 0x20 || code > 0x3f;
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

bool reply_ground(const struct reply *r, uint32_t *rgb)
{
	static const char start[] = "11;rgb:";
	const char *p = r->text + sizeof(start) - 1;
	uint32_t all[3];
	if (r->lost || r->kind != REPLY_STRING || strncmp(r->text, start, sizeof(start) - 1) != 0)
		return false;
	for (int i = 0; i < 3; i++)
		if ((i && *p++ != '/') || !channel(&p, &all[i]))
			return false;
	if (*p)
		return false;
	*rgb = all[0] << 16 | all[1] << 8 | all[2];
	return true;
}
