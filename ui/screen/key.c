/* Codes and names of keys. */
#include "config.h"

#include "ui/screen/key.h"

#include "ui/screen/canvas.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t key;
} names[] = {
	{ "Up", KEY_CODE_UP },
	{ "Down", KEY_CODE_DOWN },
	{ "Left", KEY_CODE_LEFT },
	{ "Right", KEY_CODE_RIGHT },
	{ "Home", KEY_CODE_HOME },
	{ "End", KEY_CODE_END },
	{ "PgUp", KEY_CODE_PAGE_UP },
	{ "PgDn", KEY_CODE_PAGE_DOWN },
	{ "Enter", KEY_CODE_ENTER },
	{ "Esc", KEY_CODE_ESC },
	{ "Tab", KEY_CODE_TAB },
	{ "BackTab", KEY_CODE_BACKTAB },
	{ "Space", ' ' },
	{ "Backspace", KEY_CODE_BACKSPACE },
	{ "Delete", KEY_CODE_DELETE },
};

uint32_t key_parse(struct text name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_is(name, names[i].name))
			return names[i].key;
	if (name.n == 2 && name.p[0] == '^' && name.p[1] >= '@' && name.p[1] <= '_')
		return (uint32_t)name.p[1] & 31;
	if (name.n >= 2 && name.n <= 3 && name.p[0] == 'F') {
		int64_t number;
		if (text_to_int64((struct text){ name.p + 1, name.n - 1 }, &number) && number >= 1 &&
			number <= 12)
			return KEY_CODE_F1 + (uint32_t)number - 1;
	}
	char copy[8] = "";
	if (name.n == 0 || name.n > 4)
		return KEY_CODE_NONE;
	memcpy(copy, name.p, name.n);
	const char *p = copy;
	uint32_t code = text_decode(&p);
	return *p ? KEY_CODE_NONE : code;
}

char *key_text(char *buf, uint32_t key)
{
	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].key == key)
			return strcpy(buf, names[i].name);
	if (key == KEY_CODE_NONE)
		return buf;
	if (key < 32)
		snprintf(buf, 16, "^%c", (char)(key + 64));
	else if (key >= KEY_CODE_F1 && key <= KEY_CODE_F12)
		snprintf(buf, 16, "F%u", key - KEY_CODE_F1 + 1);
	else if (key < 127)
		snprintf(buf, 16, "%c", (char)key);
	return buf;
}

const char *key_text_at(int number)
{
	return number >= 0 && number < (int)(sizeof(names) / sizeof(*names)) ? names[number].name : NULL;
}

bool key_name_next(const char **list, struct text *name)
{
	*list += strspn(*list, " ");
	*name = (struct text){ *list, strcspn(*list, " ") };
	*list += name->n;
	return name->n > 0;
}

static const char *(*named)(const char *name);

void key_names_use(const char *(*first)(const char *name))
{
	named = first;
}

const char *key_named(const char *name)
{
	return named ? named(name) : name;
}
