/* Keys: their codes and names. */
#ifndef UI_SCREEN_KEY_H
#define UI_SCREEN_KEY_H

#include "base/str.h"

/* A key: a code point (control characters as themselves: ^L is 12), or one of these. */
enum key {
	KEY_CODE_NONE = 0,
	KEY_CODE_ENTER = 13, KEY_CODE_TAB = 9, KEY_CODE_ESC = 27, KEY_CODE_BACKSPACE = 127,
	KEY_CODE_UP = 0x110000, KEY_CODE_DOWN, KEY_CODE_LEFT, KEY_CODE_RIGHT, KEY_CODE_HOME, KEY_CODE_END,
	KEY_CODE_PAGE_UP, KEY_CODE_PAGE_DOWN, KEY_CODE_BACKTAB, KEY_CODE_DELETE,
	KEY_CODE_F1, KEY_CODE_F12 = KEY_CODE_F1 + 11
};

/* The key of a name ("j", "Down", "^F", "F1"), KEY_CODE_NONE for an unknown name. */
uint32_t key_parse(struct text name);
/* Writes the name of a key to buf (16 bytes), "" if it has none. */
char *key_text(char *buf, uint32_t key);
/* The names of keys that are no characters, F1 to F12 excepted: number from 0; NULL beyond the last. */
const char *key_text_at(int number);
/* The next name in a list of them, separated by blanks; false at its end. */
bool key_name_next(const char **list, struct text *name);

/* The first key of the row with that name in the table of keys (ui/stage/keys.h), for texts: keys may be
 * configured. A letter of the row ("$a") is left out. Valid until the end. Without a table: the name. */
const char *key_named(const char *name);
void key_names_use(const char *(*first)(const char *name));

#endif
