/* The sections of the manual page that are made from the tables of keys and commands. */
#include "config.h"

#include "ui/stage/lines.h"

#include <string.h>

/* Escapes for roff: a leading dot or quote would be a request, a backslash an escape, a minus a hyphen. */
void keys_man_add(struct str *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (s[i]) {
		case '\\': str_addf(out, "\\e"); break;
		case '-': str_addf(out, "\\-"); break;
		case '^': str_addf(out, "\\(ha"); break;
		case '\'': str_addf(out, "\\(aq"); break;
		default: str_add(out, s + i, 1);
		}
}

/* The words that --keys accepts. */
static void names_print_man(struct str *out)
{
	str_addf(out, ".SS Names of keys\nThe option \\fB\\-\\-keys\\fR takes single characters and these "
		"names, separated by blanks:\n");
	for (int i = 0; key_text_at(i); i++)
		str_addf(out, "\\fB%s\\fR,\n", key_text_at(i));
	str_addf(out, "\\fBF1\\fR to \\fBF12\\fR,\nand \\fB\\(haA\\fR to \\fB\\(haZ\\fR with Ctrl.\n"
		"\\fBtext:\\fR\\fIWORD\\fR types a word letter by letter; while a prompt is open, any word "
		"that is not a key name is typed:\n\\fB/ layer3 Enter Enter\\fR.\n"
		"Two keys are one word\n(\\fBzo\\fR), and so is a key with its count\n(\\fB5j\\fR).\n"
		"Any other word is an error.\n");
}

static void lines_print_man(struct str *out)
{
	int count;
	const struct line_row *rows = lines_table(&count);
	str_puts(out, ".SS Commands\nThe key \\fB:\\fR opens a line for these commands. Tab completes "
		"their names and arguments; a further Tab shows the next candidate; Up and Down go through "
		      "earlier lines. A name may be shortened to a unique prefix.\n");
	for (int i = 0; i < count; i++) {
		char shown[LINE_SHOWN];
		str_puts(out, ".TP\n\\fB");
		line_shown(shown, &rows[i]);
		keys_man_add(out, shown, strlen(shown));
		str_puts(out, "\\fR\n");
		keys_man_add(out, rows[i].text, strlen(rows[i].text));
		str_puts(out, "\n");
	}
}

void keys_print_man(struct str *out)
{
	int count;
	const struct key_row *rows = keys_table(&count);
	for (int g = 0; g < KEYS_GROUP_COUNT; g++) {
		if (!keys_group_has((enum key_group)g))
			continue;
		str_addf(out, ".SS %s\n", keys_group_name(g));
		for (int i = 0; i < count; i++) {
			if (rows[i].group != (enum key_group)g)
				continue;
			str_addf(out, ".TP\n");
			const char *list = rows[i].keys, *comma = "";
			for (struct text name; key_name_next(&list, &name); comma = ", ") {
				str_addf(out, "%s\\fB", comma);
				keys_man_add(out, name.p, name.n);
				str_addf(out, "\\fR");
			}
			str_puts(out, " (\\fI");
			keys_man_add(out, rows[i].name, strlen(rows[i].name));
			str_puts(out, "\\fR)\n");
			keys_man_add(out, rows[i].text, strlen(rows[i].text));
			str_addf(out, "\n");
		}
	}
	lines_print_man(out);
	names_print_man(out);
}
