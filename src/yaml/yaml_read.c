/* Events of libyaml become items; syntax errors get the words of someone who wrote the file. */
#include "config.h"

#include "yaml/yaml_read.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

struct yaml_reader {
	struct str file; /* its bytes; empty for a text of the caller */
	struct text bytes;
	yaml_parser_t parser;
	yaml_event_t event; /* the current one; valid if have */
	bool have;
	int depth, documents;
	int line;                  /* of the last item */
	int flow_depth, flow_line; /* of the outermost [ or { that is open, from 1; 0: none is */
};

/* O_NONBLOCK: the file may be replaced by a pipe without a writer after the stat. */
static int file_read(const char *path, size_t most, struct str *text, struct error *err)
{
	struct stat st;
	if (stat(path, &st))
		return error_set(err, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(
			err, "%s: %s", path, S_ISDIR(st.st_mode) ? "a directory, not a file" : "not a file");
	if ((uintmax_t)st.st_size > most)
		return error_set(err, "%s: larger than %zu bytes", path, most);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	char block[8192];
	ssize_t n;
	while ((n = read(fd, block, sizeof(block))) > 0 && text->n <= most)
		str_add(text, block, (size_t)n);
	close(fd);
	if (n < 0)
		return error_set(err, "%s: cannot be read", path);
	return text->n <= most ? 0 : error_set(err, "%s: larger than %zu bytes", path, most);
}

struct yaml_reader *yaml_open_text(struct text bytes)
{
	struct yaml_reader *r = base_calloc(1, sizeof(*r));
	if (!yaml_parser_initialize(&r->parser))
		abort(); /* out of memory, as in base */
	r->bytes = (struct text){ bytes.n ? bytes.p : "", bytes.n };
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->bytes.p, r->bytes.n);
	return r;
}

struct yaml_reader *yaml_open(const char *path, size_t most, struct error *err)
{
	struct str file = { 0 };
	if (file_read(path, most, &file, err)) {
		str_free(&file);
		return NULL;
	}
	struct yaml_reader *r = yaml_open_text((struct text){ file.p, file.n });
	r->file = file;
	return r;
}

void yaml_close(struct yaml_reader *r)
{
	if (!r)
		return;
	if (r->have)
		yaml_event_delete(&r->event);
	yaml_parser_delete(&r->parser);
	str_free(&r->file);
	free(r);
}

/* What libyaml says, and what that means to who wrote the file; the first row whose text it begins with. %d:
 * the line where what was not closed begins. */
static const struct {
	const char *problem, *words;
} meanings[] = {
	{ "found a tab character", "the line begins with a tab; YAML wants blanks" },
	{ "did not find expected ',' or ']'", "the [ of line %d is not closed: a ] or a comma is missing" },
	{ "did not find expected ',' or '}'", "the { of line %d is not closed: a } or a comma is missing" },
	{ "found unexpected end of stream", "the quote of line %d is not closed" },
	{ "did not find expected key", "its indentation differs from the lines before it" },
	{ "did not find expected '-' indicator", "its indentation differs from the lines before it" },
	{ "mapping values are not allowed", "an extra colon: a value with \": \" needs quotes" },
	{ "could not find expected ':'", "a key without a colon, or a text of several lines without quotes" },
};

/* The byte of a mark, which counts letters. */
static size_t byte_of(const struct yaml_reader *r, const yaml_mark_t *mark)
{
	size_t at = r->bytes.n >= 3 && memcmp(r->bytes.p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	for (size_t left = mark->index; left > 0 && at < r->bytes.n; left--)
		for (at++; at < r->bytes.n && ((unsigned char)r->bytes.p[at] & 0xc0) == 0x80; at++)
			;
	return at;
}

/* True if only blanks and tabs, with a tab among them, are before that byte in its line, itself included. */
static bool is_after_tab(const struct yaml_reader *r, size_t at)
{
	bool tab;
	for (tab = at < r->bytes.n && r->bytes.p[at] == '\t'; at > 0 && r->bytes.p[at - 1] != '\n'; at--) {
		tab |= r->bytes.p[at - 1] == '\t';
		if (r->bytes.p[at - 1] != ' ' && r->bytes.p[at - 1] != '\t')
			return false;
	}
	return tab;
}

static int problem_say(const struct yaml_reader *r, struct error *err)
{
	const yaml_parser_t *p = &r->parser;
	size_t at = byte_of(r, &p->problem_mark);
	char c = at < r->bytes.n ? r->bytes.p[at] : '\0';
	if (p->error != YAML_READER_ERROR && is_after_tab(r, at))
		return error_set(err, "%s", meanings[0].words);
	if (strcmp(p->problem, "found character that cannot start any token") == 0 && c > ' ' && c < 0x7f)
		return error_set(err, "a value that begins with %c needs quotes", c);
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (strncmp(p->problem, meanings[i].problem, strlen(meanings[i].problem)) == 0)
			return error_set(err, meanings[i].words, (int)p->context_mark.line + 1);
	return error_set(err, "%s", p->problem);
}

/* libyaml reports line and column of syntax errors, but only an offset for bytes that are not text. */
static int reader_failed(const struct yaml_reader *r, struct yaml_item *item, struct error *err)
{
	const yaml_parser_t *p = &r->parser;
	*item = (struct yaml_item){ .line = (int)p->problem_mark.line + 1,
		.column = (int)p->problem_mark.column + 1 };
	if (p->error == YAML_READER_ERROR) {
		item->line = item->column = 1;
		for (size_t i = 0; i < r->bytes.n && i < p->problem_offset; i++) {
			bool newline = r->bytes.p[i] == '\n';
			item->line += newline;
			item->column = newline ? 1 : item->column + 1;
		}
	}
	return p->problem ? problem_say(r, err) : error_set(err, "cannot be read as YAML");
}

static struct text text_from(const yaml_char_t *s)
{
	return s ? text_of((const char *)s) : (struct text){ 0 };
}

/* False for an event that is no item: the begin and end of the stream and of a document. */
static bool item_from(const yaml_event_t *e, struct yaml_item *item)
{
	*item = (struct yaml_item){ .line = (int)e->start_mark.line + 1,
		.column = (int)e->start_mark.column + 1 };
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		item->kind = YAML_SCALAR;
		item->text = (struct text){ (const char *)e->data.scalar.value, e->data.scalar.length };
		item->anchor = text_from(e->data.scalar.anchor);
		item->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		return true;
	case YAML_SEQUENCE_START_EVENT:
		item->kind = YAML_LIST;
		item->anchor = text_from(e->data.sequence_start.anchor);
		return true;
	case YAML_MAPPING_START_EVENT:
		item->kind = YAML_MAP;
		item->anchor = text_from(e->data.mapping_start.anchor);
		return true;
	case YAML_ALIAS_EVENT:
		item->kind = YAML_ALIAS;
		item->text = text_from(e->data.alias.anchor);
		return true;
	case YAML_SEQUENCE_END_EVENT:
		item->kind = YAML_LIST_END;
		return true;
	case YAML_MAPPING_END_EVENT:
		item->kind = YAML_MAP_END;
		return true;
	default:
		return false;
	}
}

/* Counts the open lists and maps. Between [ and ] a text goes on in the next line, which nobody means: the
 * bracket was not closed. Returns -1 with an error. */
static int item_count(struct yaml_reader *r, const struct yaml_item *item, struct error *err)
{
	const yaml_event_t *e = &r->event;
	bool flows = (e->type == YAML_SEQUENCE_START_EVENT &&
			 e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE) ||
		(e->type == YAML_MAPPING_START_EVENT &&
			e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
	bool pair = e->type == YAML_MAPPING_START_EVENT && e->start_mark.index == e->end_mark.index;
	bool lines = item->plain && e->end_mark.line > e->start_mark.line;
	if (r->flow_line && (lines || (pair && item->line > r->line)))
		return error_set(err, "the bracket of line %d is not closed", r->flow_line);
	r->depth += (item->kind == YAML_LIST || item->kind == YAML_MAP) -
		    (item->kind == YAML_LIST_END || item->kind == YAML_MAP_END);
	r->line = item->line;
	if (flows && !r->flow_line) {
		r->flow_line = item->line;
		r->flow_depth = r->depth;
	}
	if (r->depth < r->flow_depth)
		r->flow_line = r->flow_depth = 0;
	return r->depth <= YAML_DEPTH_MAX ? 0 :
		error_set(err, "nested deeper than %d levels", YAML_DEPTH_MAX);
}

int yaml_next(struct yaml_reader *r, struct yaml_item *item, struct error *err)
{
	for (;;) {
		if (r->have)
			yaml_event_delete(&r->event);
		r->have = yaml_parser_parse(&r->parser, &r->event) != 0;
		if (!r->have)
			return reader_failed(r, item, err);
		if (item_from(&r->event, item))
			break;
		if (r->event.type == YAML_DOCUMENT_START_EVENT && r->documents++)
			return error_set(err, "a second document; the file may have only one");
		if (r->event.type == YAML_STREAM_END_EVENT || r->event.type == YAML_NO_EVENT)
			return 0; /* item: YAML_END */
	}
	return item_count(r, item, err);
}

bool yaml_item_is_null(const struct yaml_item *i)
{
	return i->kind == YAML_SCALAR && i->plain &&
	       (i->text.n == 0 || text_is(i->text, "~") || text_is(i->text, "null"));
}
