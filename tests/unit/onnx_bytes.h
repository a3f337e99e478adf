/* A tiny writer of protobuf's wire format, to build ONNX files, good and bad ones, within a test. */
#ifndef ONNX_BYTES_H
#define ONNX_BYTES_H

#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED_OK __attribute__((unused)) static

UNUSED_OK void put_varint(struct str *s, uint64_t v)
{
	for (; v >= 0x80; v >>= 7) {
		char byte = (char)(v | 0x80);
		str_add(s, &byte, 1);
	}
	char last = (char)v;
	str_add(s, &last, 1);
}

UNUSED_OK void put_key(struct str *s, unsigned field, unsigned wire)
{
	put_varint(s, (uint64_t)field << 3 | wire);
}

UNUSED_OK void put_int(struct str *s, unsigned field, int64_t v)
{
	put_key(s, field, 0);
	put_varint(s, (uint64_t)v);
}

UNUSED_OK void put_float(struct str *s, unsigned field, float v)
{
	put_key(s, field, 5);
	str_add(s, (const char *)&v, 4);
}

UNUSED_OK void put_bytes(struct str *s, unsigned field, const void *p, size_t n)
{
	put_key(s, field, 2);
	put_varint(s, n);
	str_add(s, p, n);
}

UNUSED_OK void put_text(struct str *s, unsigned field, const char *text)
{
	put_bytes(s, field, text, strlen(text));
}

/* Adds child as a message, and empties it for the next one. */
UNUSED_OK void put_message(struct str *s, unsigned field, struct str *child)
{
	put_bytes(s, field, child->n ? child->p : "", child->n);
	str_free(child);
}

/* ---- ONNX messages; texts "" are left out ---- */

/* A NodeProto with up to two inputs and one output, and the attributes already written in `attributes`. */
UNUSED_OK void put_node(struct str *graph, const char *name, const char *op, const char *in1, const char *in2,
	const char *out, struct str *attributes)
{
	struct str node = { 0 };
	if (*in1)
		put_text(&node, 1, in1);
	if (*in2)
		put_text(&node, 1, in2);
	if (*out)
		put_text(&node, 2, out);
	if (*name)
		put_text(&node, 3, name);
	put_text(&node, 4, op);
	if (attributes && attributes->n) {
		str_add(&node, attributes->p, attributes->n);
		str_free(attributes);
	}
	put_message(graph, 1, &node);
}

/* A ValueInfoProto of a tensor: dims as text "1,batch,?", NULL for no shape. field 11 input, 12 output, 13
 * info. */
UNUSED_OK void put_value(struct str *graph, unsigned field, const char *name, int type, const char *dims)
{
	struct str value = { 0 }, wrap = { 0 }, tensor = { 0 }, shape = { 0 };
	put_text(&value, 1, name);
	put_int(&tensor, 1, type);
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", dims ? dims : "");
	for (char *d = strtok(copy, ","); d; d = strtok(NULL, ",")) {
		struct str dim = { 0 };
		if ((*d >= '0' && *d <= '9') || *d == '-')
			put_int(&dim, 1, atoll(d));
		else if (*d != '?')
			put_text(&dim, 2, d);
		put_message(&shape, 1, &dim);
	}
	if (dims)
		put_message(&tensor, 2, &shape);
	put_message(&wrap, 1, &tensor);
	put_message(&value, 2, &wrap);
	put_message(graph, field, &value);
}

/* A TensorProto: dims as text, raw content (NULL: none). */
UNUSED_OK void put_tensor(struct str *to, unsigned field, const char *name, int type, const char *dims,
	const void *raw, size_t n)
{
	struct str t = { 0 };
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", dims);
	for (char *d = strtok(copy, ","); d; d = strtok(NULL, ","))
		put_int(&t, 1, atoll(d));
	put_int(&t, 2, type);
	put_text(&t, 8, name);
	if (raw)
		put_bytes(&t, 9, raw, n);
	put_message(to, field, &t);
}

/* The ModelProto around a graph; empties it. opset 0: none. */
UNUSED_OK struct str put_model(struct str *graph, int64_t ir, int64_t opset)
{
	struct str m = { 0 };
	put_int(&m, 1, ir);
	put_text(&m, 2, "test");
	put_message(&m, 7, graph);
	if (opset) {
		struct str set = { 0 };
		put_text(&set, 1, "");
		put_int(&set, 2, opset);
		put_message(&m, 8, &set);
	}
	return m;
}

/* ---- files ---- */

static char scratch_dir[256], scratch_file[300];

UNUSED_OK bool scratch_open(void)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(scratch_dir, sizeof(scratch_dir), "%s/benanza-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch_dir))
		return false;
	snprintf(scratch_file, sizeof(scratch_file), "%s/m.onnx", scratch_dir);
	return true;
}

UNUSED_OK void scratch_close(void)
{
	unlink(scratch_file);
	rmdir(scratch_dir);
}

/* Makes scratch_file hold exactly these bytes. */
UNUSED_OK bool scratch_write(const void *bytes, size_t n)
{
	int fd = open(scratch_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool good = fd >= 0 && write(fd, bytes, n) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return good;
}

#endif
