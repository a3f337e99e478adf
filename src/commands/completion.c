/* Scripts for shells: commands, options and values come from the tables, only the syntax is each shell's
 * own. */
#include "config.h"

#include "commands/completion.h"
#include "config/option_table.h"
#include "ui/views/view.h"

#include <string.h>

/* What an option's value is completed with. */
enum completed { VALUE_NONE, VALUE_ANY, VALUE_FILE, VALUE_WORDS };

static void dtypes_add(struct str *out)
{
	for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++)
		if (dtype_is_asked((enum dtype)t))
			str_addf(out, " %s", dtype_name((enum dtype)t));
}

static void what_ifs_add(struct str *out)
{
	int count;
	const struct what_if *w = what_if_table(&count);
	for (int i = 0; i < count; i++)
		str_addf(out, " %s", w[i].name);
}

static void devices_add(struct str *out)
{
	struct arena a = { 0 };
	struct described *list;
	struct error err = ERROR_NONE;
	int count = 0;
	str_puts(out, " cpu");
	if (described_list(&a, &list, &count, &err) == 0)
		for (int i = 0; i < count; i++)
			if (!list[i].id[strspn(list[i].id, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
				str_addf(out, " %s", list[i].id);
	arena_free(&a);
}

static void views_add(struct str *out)
{
	for (int i = 0; views_at(i); i++)
		str_addf(out, " %s", views_at(i)->name);
}

static void shells_add(struct str *out)
{
	str_puts(out, " bash zsh fish");
}

static const struct {
	const char *option;
	void (*add)(struct str *out);
} values[] = { { "dtype", dtypes_add }, { "what-if", what_ifs_add }, { "device", devices_add },
	{ "view", views_add }, { "completion", shells_add } };

/* Adds the words, each after a blank. */
static enum completed value_words(const struct option_row *r, struct str *out)
{
	const struct option *o = r->use == USE_CONFIG ? option_find(text_of(r->key)) : NULL;
	if (!r->value || r->value[0] == '[')
		return VALUE_NONE;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strcmp(values[i].option, r->name) == 0) {
			values[i].add(out);
			return VALUE_WORDS;
		}
	if (!o || !o->choices)
		return strstr(r->value, "FILE") ? VALUE_FILE : VALUE_ANY;
	for (const char *p = o->choices; *p; p += p[strcspn(p, "|")] ? strcspn(p, "|") + 1 : strcspn(p, "|"))
		str_addf(out, " %.*s", (int)strcspn(p, "|"), p);
	return VALUE_WORDS;
}

/* A text in single quotes: these as each shell writes them, characters in `escape` after a backslash. */
static void quoted(FILE *out, const char *text, const char *escape, const char *quote)
{
	for (; *text; text++) {
		if (strchr(escape, *text))
			fputc('\\', out);
		if (*text == '\'')
			fputs(quote, out);
		else
			fputc(*text, out);
	}
}

/* Calls `each` for the rows of a command's options, those that it ignores left out. */
static void rows_of(const struct command *c, FILE *out,
	void (*each)(const struct command *c, const struct option_row *r, FILE *out))
{
	const struct option_row *rows[OPTION_ROWS_MAX];
	int count = option_rows_of(c, rows);
	for (int i = 0; i < count; i++)
		each(c, rows[i], out);
}

/* Names of commands: of a family ("db"), or (NULL) the first words of all but the explorer. */
static void names_print(const char *family, const char *before, FILE *out)
{
	int count;
	const struct command *const *all = command_table(&count);
	size_t n = family ? strlen(family) : 0;
	const char *separator = "";
	for (int i = 1; i < count; i++) {
		const char *name = all[i]->name;
		bool within = family && strncmp(name, family, n) == 0 && name[n] == ' ';
		if (family ? !within : strchr(name, ' ') != NULL)
			continue;
		fprintf(out, "%s%s", separator, within ? name + n + 1 : name);
		separator = before;
	}
}

/* ---- bash ---- */

static void bash_option(const struct command *c, const struct option_row *r, FILE *out)
{
	(void)c;
	if (r->letter)
		fprintf(out, " -%c", r->letter);
	fprintf(out, " --%s", r->name);
}

static void bash_value(const struct command *c, const struct option_row *r, FILE *out)
{
	struct str words = { 0 };
	enum completed kind = value_words(r, &words);
	(void)c;
	if (kind != VALUE_NONE) {
		fputs("\t", out);
		if (r->letter)
			fprintf(out, "-%c|", r->letter);
		fprintf(out, "--%s) kind=%s words=\"%s\" ;;\n", r->name, kind == VALUE_WORDS ? "words" :
			kind == VALUE_FILE ? "files" : "any", words.n ? words.p + 1 : "");
	}
	str_free(&words);
}

/* The choices of a what-if, whose name stands before the `=`. */
static void bash_choices(FILE *out)
{
	int count;
	const struct what_if *w = what_if_table(&count);
	fputs("\tcase $assigned in\n", out);
	for (int i = 0; i < count; i++) {
		fprintf(out, "\t%s) kind=words words=\"", w[i].name);
		for (int k = 0; w[i].choices[k]; k++)
			fprintf(out, "%s%s", k ? " " : "", w[i].choices[k]);
		fputs("\" ;;\n", out);
	}
	fputs("\tesac\n", out);
}

static void bash_print(FILE *out)
{
	int count;
	const struct command *const *all = command_table(&count);
	fputs("# bash completion of benanza, generated from its tables: benanza help --completion bash\n"
	      "_benanza()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=explorer\n"
	      "\tlocal i at=0 before= assigned= kind=files words= options=\n"
	      "\tCOMPREPLY=()\n"
	      "\t# = ends a word\n"
	      "\t[[ $cur == = ]] && cur= prev==\n"
	      "\t[[ $prev == = ]] && assigned=${COMP_WORDS[COMP_CWORD - 1]} && {\n"
	      "\t\tfor ((i = COMP_CWORD; i > 0; i--)); do [[ ${COMP_WORDS[i]} == = ]] && break; done\n"
	      "\t\tprev=${COMP_WORDS[i - 1]} assigned=${prev##*,}\n\t}\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n\t\t", out);
	names_print(NULL, "|", out);
	fputs(") command=${COMP_WORDS[i]} at=$i; break ;;\n\t\tesac\n\tdone\n"
	      "\t[[ $command == db ]] && ((COMP_CWORD > at + 1)) && command=\"db ${COMP_WORDS[at + 1]}\"\n"
	      "\tcase $command in\n", out);
	for (int i = 0; i < count; i++) {
		fprintf(out, "\t\"%s\") options=\"", all[i]->name);
		rows_of(all[i], out, bash_option);
		fputs("\" ;;\n", out);
	}
	fputs("\tesac\n\tcase $prev in\n", out);
	rows_of(NULL, out, bash_value);
	fputs("\t*)\n\t\tif [[ $cur == -* ]]; then\n\t\t\tkind=words words=$options\n"
	      "\t\telif [[ $command == help ]] || ((!at && COMP_CWORD == 1)); then\n"
	      "\t\t\tkind=both words=\"", out);
	names_print(NULL, " ", out);
	fputs("\"\n\t\telif [[ $command == db ]]; then\n\t\t\tkind=words words=\"", out);
	names_print("db", " ", out);
	fputs("\"\n\t\tfi ;;\n\tesac\n", out);
	bash_choices(out);
	fputs("\tif [[ $kind == words && $cur == *,* ]]; then # a list\n"
	      "\t\tbefore=${cur%,*}, cur=${cur##*,}\n\tfi\n"
	      "\t[[ $kind == words || $kind == both ]] && mapfile -t COMPREPLY < <(compgen -P \"$before\" "
	      "-W \"$words\" -- \"$cur\")\n"
	      "\tif [[ $kind == files || $kind == both ]]; then\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n\tfi\n"
	      "}\ncomplete -F _benanza benanza\n", out);
}

/* ---- zsh ---- */

static void zsh_option(const struct command *c, const struct option_row *r, FILE *out)
{
	struct str words = { 0 };
	enum completed kind = value_words(r, &words);
	const char *equals = kind == VALUE_NONE ? "" : "=";
	(void)c;
	if (r->letter)
		fprintf(out, "\t\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", r->letter, r->name, r->letter,
			kind == VALUE_NONE ? "" : "+", r->name, equals);
	else
		fprintf(out, "\t\t\t'--%s%s[", r->name, equals);
	quoted(out, r->text, "[]:\\", "'\\''");
	fputs("]", out);
	if (kind != VALUE_NONE) {
		fputc(':', out);
		quoted(out, r->value, "[]:\\", "'\\''");
		if (kind == VALUE_WORDS && strcmp(r->value, "LIST") == 0)
			fprintf(out, ":_sequence compadd - %s", words.p + 1);
		else if (kind == VALUE_WORDS)
			fprintf(out, ":(%s)", words.p + 1);
		else
			fputs(kind == VALUE_FILE ? ":_files" : ": ", out);
	}
	fputs("' \\\n", out);
	str_free(&words);
}

static void zsh_print(FILE *out)
{
	int count;
	const struct command *const *all = command_table(&count);
	fputs("#compdef benanza\n"
	      "# generated from benanza's tables: benanza help --completion zsh\n"
	      "_benanza() {\n\tlocal command=explorer i at=0\n\tlocal -a commands\n\tcommands=(\n", out);
	for (int i = 1; i < count; i++)
		if (!strchr(all[i]->name, ' ')) {
			fprintf(out, "\t\t'%s:", all[i]->name);
			quoted(out, all[i]->text, ":\\", "'\\''");
			fputs("'\n", out);
		}
	fputs("\t)\n\tfor ((i = 2; i < CURRENT; i++)); do\n\t\tcase ${words[i]} in\n\t\t(", out);
	names_print(NULL, "|", out);
	fputs(") command=${words[i]} at=$i; break ;;\n\t\tesac\n\tdone\n"
	      "\t[[ $command == db ]] && ((CURRENT > at + 1)) && command=\"db ${words[at + 1]}\"\n"
	      "\tif ((CURRENT == 2)) || [[ $command == help ]]; then\n\t\t_describe command commands\n\tfi\n"
	      "\tif [[ $command == db ]]; then\n\t\tcompadd - ", out);
	names_print("db", " ", out);
	fputs("\n\tfi\n\tcase $command in\n", out);
	for (int i = 0; i < count; i++) {
		fprintf(out, "\t(\"%s\")\n\t\t_arguments -s \\\n", all[i]->name);
		rows_of(all[i], out, zsh_option);
		fputs("\t\t\t'*:file:_files' ;;\n", out);
	}
	fputs("\tesac\n}\n_benanza \"$@\"\n", out);
}

/* ---- fish ---- */

static void fish_condition(const struct command *c, FILE *out)
{
	if (command_is_explorer(c)) {
		fputs("not __fish_seen_subcommand_from ", out);
		names_print(NULL, " ", out);
		return;
	}
	const char *inner = strchr(c->name, ' ');
	fprintf(out, "__fish_seen_subcommand_from %.*s", (int)strcspn(c->name, " "), c->name);
	if (inner)
		fprintf(out, "; and __fish_seen_subcommand_from%s", inner);
}

static void fish_option(const struct command *c, const struct option_row *r, FILE *out)
{
	struct str words = { 0 };
	enum completed kind = value_words(r, &words);
	fputs("complete -c benanza -n '", out);
	fish_condition(c, out);
	fputc('\'', out);
	if (r->letter)
		fprintf(out, " -s %c", r->letter);
	fprintf(out, " -l %s%s", r->name, kind == VALUE_NONE ? "" : kind == VALUE_FILE ? " -r -F" : " -x");
	if (kind == VALUE_WORDS)
		fprintf(out, " -a '%s'", words.p + 1);
	fputs(" -d '", out);
	quoted(out, r->text, "\\", "\\'");
	fputs("'\n", out);
	str_free(&words);
}

static void fish_print(FILE *out)
{
	int count;
	const struct command *const *all = command_table(&count);
	fputs("# fish completion of benanza, generated from its tables: benanza help --completion fish\n",
		out);
	for (int i = 1; i < count; i++) {
		const char *inner = strchr(all[i]->name, ' ');
		fprintf(out, "complete -c benanza -n '%s%.*s' -a '%s' -d '", inner ?
			"__fish_seen_subcommand_from " : "__fish_use_subcommand", inner ?
			(int)(inner - all[i]->name) : 0, all[i]->name, inner ? inner + 1 : all[i]->name);
		quoted(out, all[i]->text, "\\", "\\'");
		fputs("'\n", out);
	}
	for (int i = 0; i < count; i++)
		rows_of(all[i], out, fish_option);
}

int completion_print(const char *shell, FILE *out, struct error *err)
{
	static const struct {
		const char *name;
		void (*print)(FILE *out);
	} shells[] = { { "bash", bash_print }, { "zsh", zsh_print }, { "fish", fish_print } };
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shell, shells[i].name) == 0) {
			shells[i].print(out);
			return 0;
		}
	return error_set(err, "--completion %s: use bash, zsh or fish", shell);
}
