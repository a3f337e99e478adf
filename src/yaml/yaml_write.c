/* A text is written plain where no reader can take it for something else, else quoted. */
#include "config.h"

#include "yaml/yaml_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"

#define WRITER_DEPTH_MAX 64

struct yaml_writer {
	yaml_emitter_t emitter;
	struct str *out;
	size_t before; /* out->n at the beginning */
	int depth, roots;
	struct error err; /* the first one; "" if none */
};

static int writer_add(void *user, unsigned char *bytes, size_t n)
{
	str_add(((struct yaml_writer *)user)->out, (const char *)bytes, n);
	return 1;
}

/* Emits the event, which the emitter frees, unless an earlier call failed. made: it was initialized. */
static void writer_emit(struct yaml_writer *w, yaml_event_t *e, int made)
{
	if (w->err.text[0]) {
		if (made)
			yaml_event_delete(e);
	} else if (!made) {
		error_set(&w->err, "a text is not valid UTF-8");
	} else if (!yaml_emitter_emit(&w->emitter, e)) {
		error_set(
			&w->err, "%s", w->emitter.problem ? w->emitter.problem : "cannot be written as YAML");
	}
}

struct yaml_writer *yaml_writer_new(struct str *out)
{
	struct yaml_writer *w = base_calloc(1, sizeof(*w));
	yaml_event_t e;
	w->out = out;
	w->before = out->n;
	if (!yaml_emitter_initialize(&w->emitter))
		abort(); /* out of memory, as in base */
	yaml_emitter_set_output(&w->emitter, writer_add, w);
	yaml_emitter_set_unicode(&w->emitter, 1);
	yaml_emitter_set_width(&w->emitter, -1);
	writer_emit(w, &e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
	writer_emit(w, &e, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
	return w;
}

static void writer_value(struct yaml_writer *w)
{
	if (w->depth == 0 && w->roots++ && !w->err.text[0])
		error_set(&w->err, "a second value outside of a map");
}

void yaml_write_map(struct yaml_writer *w)
{
	yaml_event_t e;
	writer_value(w);
	if (w->depth == WRITER_DEPTH_MAX) {
		error_set(&w->err, "nested deeper than %d levels", WRITER_DEPTH_MAX);
		return;
	}
	w->depth++;
	writer_emit(w, &e, yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

void yaml_write_end(struct yaml_writer *w)
{
	yaml_event_t e;
	if (w->depth == 0) {
		error_set(&w->err, "an end without a map");
		return;
	}
	w->depth--;
	writer_emit(w, &e, yaml_mapping_end_event_initialize(&e));
}

static void write_scalar(struct yaml_writer *w, struct text t, bool plain)
{
	yaml_event_t e;
	writer_value(w);
	writer_emit(w, &e,
		yaml_scalar_event_initialize(&e, NULL, NULL, (const yaml_char_t *)(t.n ? t.p : ""), (int)t.n,
			plain, 1, plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE));
}

/* Returns true if the text begins with a letter or '/', has only characters without a meaning in YAML, and is
 * not a word such as "no". */
bool yaml_text_is_plain(struct text t)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "null", "y", "n" };
	static const char inner[] = "_-./=+";
	for (size_t i = 0; i < t.n; i++) {
		char c = t.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
		if (!letter && !(i > 0 && digit) && (!c || !strchr(i ? inner : "/", c)))
			return false;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (t.n == strlen(words[i]) && text_contains(t, text_of(words[i])))
			return false;
	return t.n > 0;
}

void yaml_write_text(struct yaml_writer *w, struct text t)
{
	if (t.n > INT32_MAX && !w->err.text[0])
		error_set(&w->err, "a text is too long");
	else
		write_scalar(w, t, yaml_text_is_plain(t));
}

void yaml_write_int(struct yaml_writer *w, int64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%" PRId64, value);
	write_scalar(w, text_of(text), true);
}

int yaml_writer_finish(struct yaml_writer *w, struct error *err)
{
	yaml_event_t e;
	if ((w->depth || !w->roots) && !w->err.text[0])
		error_set(&w->err, w->depth ? "a map has no end" : "nothing was written");
	writer_emit(w, &e, yaml_document_end_event_initialize(&e, 1));
	writer_emit(w, &e, yaml_stream_end_event_initialize(&e));
	if (!w->err.text[0])
		yaml_emitter_flush(&w->emitter);
	yaml_emitter_delete(&w->emitter);
	bool bad = w->err.text[0];
	if (bad)
		error_set(err, "%s", w->err.text);
	if (bad && w->out->p) {
		w->out->n = w->before;
		w->out->p[w->before] = '\0';
	}
	free(w);
	return bad ? -1 : 0;
}
