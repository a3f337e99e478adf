/* Writes YAML that every reader parses back to the same values: the same calls always give the same bytes. */
#ifndef YAML_YAML_WRITE_H
#define YAML_YAML_WRITE_H

#include "base/error.h"
#include "base/str.h"

struct yaml_writer;

/* The text is added to out, which must outlive the writer. */
struct yaml_writer *yaml_writer_new(struct str *out);
/* A map's items alternate key and value; every map has its end. */
void yaml_write_map(struct yaml_writer *w);
void yaml_write_end(struct yaml_writer *w);
/* True if readers of YAML 1.1 and 1.2 take the text, without quotes, as this text and not as a number, a date
 * or a word such as true. Stricter than YAML: other texts may be plain too. */
bool yaml_text_is_plain(struct text t);
/* Writes any valid UTF-8, NUL and newlines too: plain (yaml_text_is_plain) or in double quotes. */
void yaml_write_text(struct yaml_writer *w, struct text t);
void yaml_write_int(struct yaml_writer *w, int64_t value);
/* Ends the document and frees the writer. Returns -1 if a call failed (a text is not UTF-8, a map has no
 * end); out is then unchanged. */
int yaml_writer_finish(struct yaml_writer *w, struct error *err);

#endif
