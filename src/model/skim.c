/* Copies a protobuf file without the contents of large tensors: only the headers of fields are read, and
 * the weights are jumped over, so that the time depends on the number of nodes, not on the size of the
 * weights. */
#include "config.h"

#include "model/skim.h"

#include "base/str.h"
#include "model/graph.h"
#include "model/sniff.h"
#include "model/window.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* The private field (onnx.proto) that replaces a payload left in the file. */
#define SKIPPED_FIELD 536000000
#define SKIM_FIELDS 16
#define GRAPH_INITIALIZER 5
#define TENSOR_DIMS 1
#define TENSOR_RAW_DATA 9

/* Fields whose contents may stay in the file, and how many of their bytes in the file are kept. An integer
 * takes up to ten bytes in protobuf's encoding, so integer lists get room for TENSOR_PAYLOAD_KEPT bytes of
 * elements in the longest encoding. */
struct skim_limit {
	const ProtobufCMessageDescriptor *message;
	unsigned field;
	uint64_t kept;
};

#define TENSOR &onnx__tensor_proto__descriptor
#define ATTRIBUTE &onnx__attribute_proto__descriptor
#define MODEL &onnx__model_proto__descriptor
#define GRAPH &onnx__graph_proto__descriptor

static const struct skim_limit skim_limits[] = {
	{ TENSOR, 9, TENSOR_PAYLOAD_KEPT },           /* raw_data */
	{ TENSOR, 4, TENSOR_PAYLOAD_KEPT },           /* float_data */
	{ TENSOR, 10, TENSOR_PAYLOAD_KEPT },          /* double_data */
	{ TENSOR, 5, TENSOR_PAYLOAD_KEPT * 10 },      /* int32_data, elements from 1 byte on */
	{ TENSOR, 7, TENSOR_PAYLOAD_KEPT / 8 * 10 },  /* int64_data */
	{ TENSOR, 11, TENSOR_PAYLOAD_KEPT / 4 * 10 }, /* uint64_data, elements from 4 bytes on */
	{ ATTRIBUTE, 4, SKIM_TEXT_KEPT },             /* s */
	{ ATTRIBUTE, 7, SKIM_TEXT_KEPT },             /* floats */
	{ ATTRIBUTE, 8, SKIM_TEXT_KEPT },             /* ints */
	{ ATTRIBUTE, 9, SKIM_TEXT_KEPT },             /* strings */
	{ MODEL, 2, SKIM_TEXT_KEPT },                 /* producer_name */
	{ MODEL, 3, SKIM_TEXT_KEPT },                 /* producer_version */
	{ MODEL, 6, SKIM_TEXT_KEPT },                 /* doc_string */
};

struct walk {
	struct window in;
	struct str out;
	uint64_t lists_left; /* bytes that lists of attributes may still take beyond SKIM_TEXT_KEPT each */
	uint64_t masks_left; /* ... and constants that may be masks, beyond TENSOR_PAYLOAD_KEPT each */
	struct error *err;
};

/* What was read so far of one field of a message. */
struct tally {
	uint64_t bytes;
	bool cut;
};

/* One occurrence of a field. */
struct occurrence {
	const ProtobufCFieldDescriptor *field;
	const ProtobufCMessageDescriptor *message; /* type of the message in the field, or NULL */
	unsigned wire;
	uint64_t end;  /* end of the enclosing message */
	uint64_t kept; /* most bytes kept; UINT64_MAX: the field cannot be skipped */
	uint64_t *left; /* more is kept within this common budget; NULL: none */
	struct tally *tally;
};

/* ---- errors ---- */

static int walk_not_a_model(struct walk *w, const char *what)
{
	const struct sniff *s = sniff_bytes(w->in.head, w->in.head_bytes);
	if (s)
		return error_set(
			w->err, "%s: not an ONNX model (looks like %s); %s", w->in.name, s->what, s->fix);
	return error_set(w->err,
		"%s: not an ONNX model, or a damaged one: %s at byte %" PRIu64
		"; download or export it again",
		w->in.name, what, w->in.position);
}

static int walk_truncated(struct walk *w, uint64_t missing)
{
	if (sniff_bytes(w->in.head, w->in.head_bytes) || missing > (uint64_t)1 << 40)
		return walk_not_a_model(w, "a length past the end of the file");
	return error_set(w->err,
		"%s: truncated: at least %" PRIu64 " byte%s missing at its end"
		"; download or export it again",
		w->in.name, missing, missing == 1 ? " is" : "s are");
}

/* ---- reading ---- */

static int walk_take(struct walk *w, void *out, uint64_t n)
{
	int got = window_take(&w->in, out, n, w->err);
	return got > 0 ? 0 : got < 0 ? -1 : walk_truncated(w, 1);
}

/* Checks that n more bytes fit before `end`, the end of the message. The error tells whether the whole file
 * or a part of it is too short. */
static int walk_fits(struct walk *w, uint64_t end, uint64_t n)
{
	uint64_t left = end - w->in.position;
	if (n <= left)
		return 0;
	return end == w->in.size ? walk_truncated(w, n - left)
				 : walk_not_a_model(w, "a field past the end of its message");
}

/* Base-128 integer of the protobuf encoding, least significant group first, at most ten bytes. The fast
 * path reads from the buffer without a call per byte; only a number that crosses the buffer's end, or an
 * invalid one, takes the second loop, byte by byte. */
static int walk_varint(struct walk *w, uint64_t end, uint64_t *value)
{
	const unsigned char *here;
	size_t n = window_here(&w->in, &here);
	uint64_t left = end - w->in.position;
	n = n < 10 ? n : 10;
	n = n < left ? n : (size_t)left;
	*value = 0;
	for (size_t i = 0; i < n; i++) {
		*value |= (uint64_t)(here[i] & 0x7f) << 7 * i;
		if (!(here[i] & 0x80)) {
			w->in.position += i + 1;
			return 0;
		}
	}
	/* The number crosses the buffer's end, or is invalid. */
	*value = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		unsigned char byte;
		if (walk_fits(w, end, 1) != 0 || walk_take(w, &byte, 1) != 0)
			return -1;
		*value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return 0;
	}
	return walk_not_a_model(w, "an integer of more than ten bytes");
}

/* Reads a length, and checks that it fits its message. */
static int walk_length(struct walk *w, uint64_t end, uint64_t *length)
{
	return walk_varint(w, end, length) != 0 || walk_fits(w, end, *length) != 0 ? -1 : 0;
}

/* ---- writing the skeleton ---- */

static size_t varint_encode(unsigned char *to, uint64_t value)
{
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		to[n++] = (unsigned char)(value | 0x80);
	to[n++] = (unsigned char)value;
	return n;
}

static int walk_put(struct walk *w, const void *bytes, size_t n)
{
	if (w->out.n + n > SKIM_SKELETON_MOST)
		return error_set(w->err,
			"%s: more than %u MiB without its weights; " SKIM_FIX,
			w->in.name, SKIM_SKELETON_MOST >> 20);
	str_add(&w->out, bytes, n);
	return 0;
}

static size_t key_encode(unsigned char *to, unsigned field, unsigned wire)
{
	return varint_encode(to, (uint64_t)field << 3 | wire);
}

/* Writes a field's key and a number: its value, or the length of what follows. */
static int walk_put_number(struct walk *w, unsigned field, unsigned wire, uint64_t number)
{
	unsigned char bytes[20];
	size_t n = key_encode(bytes, field, wire);
	return walk_put(w, bytes, n + varint_encode(bytes + n, number));
}

static int walk_put_skipped(struct walk *w, unsigned field, uint64_t bytes)
{
	unsigned char body[20];
	size_t n = varint_encode(body, field);
	n += varint_encode(body + n, bytes);
	if (walk_put_number(w, SKIPPED_FIELD, WIRE_BYTES, n) != 0)
		return -1;
	return walk_put(w, body, n);
}

/* ---- walking ---- */

static int walk_skip(struct walk *w, unsigned wire, uint64_t end)
{
	uint64_t n;
	switch (wire) {
	case WIRE_VARINT:
		return walk_varint(w, end, &n);
	case WIRE_64:
	case WIRE_32:
		n = wire == WIRE_64 ? 8 : 4;
		return walk_fits(w, end, n) != 0 || walk_take(w, NULL, n) != 0 ? -1 : 0;
	case WIRE_BYTES:
		return walk_length(w, end, &n) || walk_take(w, NULL, n) ? -1 : 0;
	default:
		return walk_not_a_model(w, "a field of an unknown wire type");
	}
}

static unsigned wire_of(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_FLOAT:
		return WIRE_32;
	case PROTOBUF_C_TYPE_DOUBLE:
		return WIRE_64;
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return WIRE_BYTES;
	default:
		return WIRE_VARINT;
	}
}

static bool is_list(const ProtobufCMessageDescriptor *message, unsigned field)
{
	return message == ATTRIBUTE && field >= 7 && field <= 9; /* floats, ints, strings */
}

static uint64_t limit_of(const ProtobufCMessageDescriptor *message, unsigned field)
{
	for (size_t i = 0; i < sizeof(skim_limits) / sizeof(skim_limits[0]); i++)
		if (skim_limits[i].message == message && skim_limits[i].field == field)
			return skim_limits[i].kept;
	return UINT64_MAX;
}

/* Type of the message in the field. protobuf-c sees initializers as bytes, so that they are unpacked one at a
 * time; here they are walked as messages. */
static const ProtobufCMessageDescriptor *message_in(
	const ProtobufCMessageDescriptor *message, const ProtobufCFieldDescriptor *f)
{
	if (f->type == PROTOBUF_C_TYPE_MESSAGE)
		return f->descriptor;
	return message == GRAPH && f->id == GRAPH_INITIALIZER ? TENSOR : NULL;
}

/* Counts n more bytes of the field in its message; true if they are kept. Beyond the field's limit an
 * attribute's list and a mask may use a common budget of the model; otherwise the field is cut, and all later
 * occurrences are too. Empty ones count 1 byte, so that their number is limited. */
static bool walk_keeps(const struct occurrence *o, uint64_t n)
{
	struct tally *t = o->tally;
	n += n == 0;
	t->bytes += n;
	if (t->bytes <= o->kept || t->cut)
		return !t->cut;
	uint64_t more = t->bytes - o->kept < n ? t->bytes - o->kept : n;
	t->cut = !o->left || more > *o->left;
	if (!t->cut)
		*o->left -= more;
	return !t->cut;
}

static int walk_number(struct walk *w, const struct occurrence *o)
{
	uint64_t at = w->in.position, value;
	unsigned char bytes[10 + 8];
	if (o->wire == WIRE_VARINT) {
		if (walk_varint(w, o->end, &value) != 0)
			return -1;
		bool keep = walk_keeps(o, w->in.position - at);
		return keep ? walk_put_number(w, o->field->id, o->wire, value) : 0;
	}
	size_t key = key_encode(bytes, o->field->id, o->wire), n = o->wire == WIRE_64 ? 8 : 4;
	if (walk_fits(w, o->end, n) != 0 || walk_take(w, bytes + key, n) != 0)
		return -1;
	return walk_keeps(o, n) ? walk_put(w, bytes, key + n) : 0;
}

/* The next number of a part of the skeleton; moves *at. */
static uint64_t varint_decode(const struct str *s, size_t *at)
{
	uint64_t value = 0;
	for (unsigned shift = 0; *at < s->n && shift < 70; shift += 7) {
		unsigned char byte = (unsigned char)s->p[(*at)++];
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* True if the tensor that begins at `at` of the skeleton has the shape of a mask that all heads share: 1 x 1
 * x queries x keys, at least as many keys as queries. Writers put dimensions, unpacked, before elements. */
static bool may_be_mask(const struct str *skeleton, size_t at)
{
	uint64_t last[2] = { 0, 0 };
	int rank = 0;
	bool ones = true;
	while (at < skeleton->n) {
		uint64_t key = varint_decode(skeleton, &at);
		if (key != (TENSOR_DIMS << 3 | WIRE_VARINT))
			break;
		ones &= rank < 2 || last[0] == 1;
		last[0] = last[1];
		last[1] = varint_decode(skeleton, &at);
		rank++;
	}
	return rank >= 3 && ones && last[0] > 1 && last[0] <= last[1];
}

/* A string, raw bytes, or a packed list. */
static int walk_bytes(struct walk *w, const struct occurrence *o)
{
	uint64_t n;
	if (walk_length(w, o->end, &n) != 0)
		return -1;
	if (!walk_keeps(o, n))
		return walk_take(w, NULL, n);
	if (n > SKIM_TEXT_KEPT && o->kept == UINT64_MAX)
		return walk_not_a_model(w, "a name or list of more than 64 KiB");
	if (walk_put_number(w, o->field->id, WIRE_BYTES, n) != 0)
		return -1;
	while (n > 0) {
		const unsigned char *here;
		int more = window_more(&w->in, w->err);
		if (more <= 0)
			return more < 0 ? -1 : walk_truncated(w, 1);
		size_t part = window_here(&w->in, &here);
		part = n < part ? (size_t)n : part;
		if (walk_put(w, here, part) != 0)
			return -1;
		w->in.position += part;
		n -= part;
	}
	return 0;
}

static int walk_message(struct walk *w, const ProtobufCMessageDescriptor *message, uint64_t end, int depth);

/* Copies a message inside a message. Its length in the copy is only known at its end: five bytes are
 * reserved and filled in then, as a varint padded with continuation bits, which decoders accept. It holds
 * 2^35 - 1, more than SKIM_SKELETON_MOST. Depth is limited by SKIM_DEPTH. */
static int walk_child(struct walk *w, const struct occurrence *o, int depth)
{
	uint64_t n;
	if (walk_length(w, o->end, &n) != 0)
		return -1;
	if (depth >= SKIM_DEPTH)
		return walk_not_a_model(w, "messages nested more than 64 deep");
	unsigned char head[10 + 5] = { 0 };
	if (walk_put(w, head, key_encode(head, o->field->id, WIRE_BYTES) + 5) != 0)
		return -1;
	size_t start = w->out.n;
	if (walk_message(w, o->message, w->in.position + n, depth + 1) != 0)
		return -1;
	uint64_t length = w->out.n - start;
	for (int i = 0; i < 5; i++, length >>= 7)
		w->out.p[start - 5 + (size_t)i] = (char)((length & 0x7f) | (i < 4 ? 0x80 : 0));
	return 0;
}

static int walk_field(struct walk *w, const struct occurrence *o, int depth)
{
	ProtobufCType type = o->field->type;
	if (o->wire == WIRE_BYTES && o->message)
		return walk_child(w, o, depth);
	bool list = o->field->label == PROTOBUF_C_LABEL_REPEATED;
	if (o->wire == WIRE_BYTES && (list || type == PROTOBUF_C_TYPE_BYTES))
		return walk_bytes(w, o);
	if (o->wire == wire_of(type))
		return walk_number(w, o);
	return walk_not_a_model(w, "a field of the wrong wire type");
}

/* Copies a message field by field, by the descriptor of its type: a recursive descent over the protobuf
 * wire format in one pass over the file. Unknown fields are skipped. For every field that was cut,
 * SKIPPED_FIELD with its number and size is appended. Linear in the fields; skipped payloads are not
 * read. */
static int walk_message(struct walk *w, const ProtobufCMessageDescriptor *message, uint64_t end, int depth)
{
	struct tally tallies[SKIM_FIELDS] = { 0 };
	size_t begin = w->out.n;
	assert(message->n_fields <= SKIM_FIELDS);
	while (w->in.position < end) {
		int more = window_more(&w->in, w->err);
		if (more < 0)
			return -1;
		if (more == 0 && depth == 0 && end == UINT64_MAX)
			break;
		uint64_t key;
		if (walk_varint(w, end, &key) != 0)
			return -1;
		unsigned wire = key & 7, id = (unsigned)(key >> 3);
		if (id == 0 || key >> 32)
			return walk_not_a_model(w, "a field with an invalid number");
		const ProtobufCFieldDescriptor *f =
			id == SKIPPED_FIELD ? NULL : protobuf_c_message_descriptor_get_field(message, id);
		struct occurrence o = { .field = f, .wire = wire, .end = end };
		if (f) {
			o.message = message_in(message, f);
			o.kept = limit_of(message, id);
			o.left = is_list(message, id) ? &w->lists_left :
				message == TENSOR && id == TENSOR_RAW_DATA && may_be_mask(&w->out, begin) ?
				&w->masks_left : NULL;
			o.tally = &tallies[f - message->fields];
		}
		if (f ? walk_field(w, &o, depth) : walk_skip(w, wire, end))
			return -1;
	}
	for (unsigned i = 0; i < message->n_fields; i++)
		if (tallies[i].cut && walk_put_skipped(w, message->fields[i].id, tallies[i].bytes) != 0)
			return -1;
	return 0;
}

/* ---- unpacking ---- */

static void *skim_alloc(void *data, size_t n)
{
	struct arena *a = data;
	return n > SKIM_ARENA_MOST || a->total > SKIM_ARENA_MOST - n ? NULL : arena_alloc(a, n);
}

static void skim_release(void *data, void *p)
{
	(void)data;
	(void)p;
}

static int skim_unpack(struct skim *s, struct walk *w)
{
	ProtobufCAllocator allocator = { skim_alloc, skim_release, &s->arena };
	s->skeleton_bytes = w->out.n;
	s->file_bytes = w->in.seekable ? w->in.size : w->in.position;
	s->bytes_read = w->in.bytes_read;
	if (s->file_bytes == 0)
		return error_set(w->err, "%s: empty; download or export it again", w->in.name);
	s->model = onnx__model_proto__unpack(&allocator, w->out.n, (const uint8_t *)w->out.p);
	if (!s->model && s->arena.total > SKIM_ARENA_MOST / 2)
		return error_set(w->err,
			"%s: needs more than %zu MiB to open; " SKIM_FIX, w->in.name,
			SKIM_ARENA_MOST >> 20);
	if (!s->model)
		return walk_not_a_model(w, "a list of the wrong length");
	const Onnx__GraphProto *g = s->model->graph;
	if (!g || (g->n_node == 0 && g->n_input == 0 && g->n_output == 0))
		return walk_not_a_model(w, "no graph");
	return 0;
}

/* Opens a model without its weights: writes a skeleton of the file in which large payloads are replaced
 * by their sizes, and unpacks it with protobuf-c. Time and memory follow the graph's size, not that of
 * the weights. Limits on skeleton, depth and arena protect against hostile files. */
int skim_open(struct skim *s, const char *path, struct error *err)
{
	struct walk w = { .lists_left = SKIM_LISTS_KEPT, .masks_left = SKIM_MASKS_KEPT, .err = err };
	*s = (struct skim){ 0 };
	if (window_open(&w.in, path, err) != 0)
		return -1;
	int rc = walk_message(&w, &onnx__model_proto__descriptor, w.in.size, 0);
	if (rc == 0)
		rc = skim_unpack(s, &w);
	str_free(&w.out);
	window_close(&w.in);
	if (rc != 0)
		skim_close(s);
	return rc;
}

Onnx__TensorProto *skim_initializer(struct arena *a, ProtobufCBinaryData initializer, struct error *err)
{
	ProtobufCAllocator allocator = { skim_alloc, skim_release, a };
	Onnx__TensorProto *p = onnx__tensor_proto__unpack(&allocator, initializer.len, initializer.data);
	if (!p && a->total > SKIM_ARENA_MOST / 2)
		error_set(err, "needs more than %zu MiB to open; " SKIM_FIX, SKIM_ARENA_MOST >> 20);
	else if (!p)
		error_set(err, "damaged: a list of the wrong length; download or export it again");
	return p;
}

void skim_close(struct skim *s)
{
	arena_free(&s->arena);
	*s = (struct skim){ 0 };
}
