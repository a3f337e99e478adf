/* The skim reads the structure of an ONNX file and seeks past its weights. It writes a skeleton: the same
 * protobuf message with each large payload replaced by a private mark (onnx.proto: skipped), which protobuf-c
 * then unpacks. Memory depends on the number of names and nodes, not on the size of the weights. */
#ifndef MODEL_SKIM_H
#define MODEL_SKIM_H

#include "base/arena.h"
#include "base/error.h"

#include "model/onnx.pb-c.h"

/* Nesting limit of messages, that of protobuf's own readers; one subgraph in another takes three levels. */
#define SKIM_DEPTH 100
/* Limit in bytes of a name, and of an attribute's list or text that is kept. Longer lists are kept up to
 * SKIM_LISTS_KEPT in all: enough for vocabularies and the 100,000 nodes of a forest, not for millions. */
#define SKIM_TEXT_KEPT (64 * 1024)
#define SKIM_LISTS_KEPT (8 * 1024 * 1024)
/* Limit in bytes of all constants together that have the shape of an attention mask and are kept, to see
 * whether they are causal. */
#define SKIM_MASKS_KEPT (64 * 1024 * 1024)
/* Memory limits of a skeleton and of the message unpacked from it. */
#define SKIM_SKELETON_MOST (512u << 20)
#define SKIM_ARENA_MOST ((size_t)1 << 30)
/* The fix when a model exceeds a limit. */
#define SKIM_FIX "cut a part out (onnx.utils.extract_model) and open that"

struct skim {
	struct arena arena; /* holds the model; free with skim_close */
	Onnx__ModelProto *model;
	uint64_t file_bytes; /* of the whole file or stream */
	uint64_t bytes_read; /* of the file */
	size_t skeleton_bytes;
};

/* Reads path ("-": standard input). -1 with a one-line error that names the file and the fix; then there is
 * nothing to close. */
int skim_open(struct skim *s, const char *path, struct error *err);
void skim_close(struct skim *s);

/* Unpacks one of a graph's initializers into an empty arena. NULL with an error that lacks the file's
 * name. */
Onnx__TensorProto *skim_initializer(struct arena *a, ProtobufCBinaryData initializer, struct error *err);

#endif
