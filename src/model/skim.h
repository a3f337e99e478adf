/* The skim: reads an ONNX file's structure and jumps over its weights. It writes a skeleton, the same message
 * with each large payload replaced by a private mark (onnx.proto: skipped), and hands the skeleton to
 * protobuf-c. Opening a model costs memory for its names and nodes, whatever its weights weigh. */
#ifndef MODEL_SKIM_H
#define MODEL_SKIM_H

#include "base/arena.h"
#include "base/error.h"

#include "model/onnx.pb-c.h"

/* Nested messages; three levels are one subgraph inside another. */
#define SKIM_DEPTH 64
/* Longest name, and most bytes of an attribute's list or text that are kept; what all longer lists together may have
 * beyond that (vocabularies; the 100,000 nodes of a forest fit, millions do not). */
#define SKIM_TEXT_KEPT (64 * 1024)
#define SKIM_LISTS_KEPT (8 * 1024 * 1024)
/* Most memory for a skeleton, and for what is unpacked from it. */
#define SKIM_SKELETON_MOST (512u << 20)
#define SKIM_ARENA_MOST ((size_t)1 << 30)
/* What helps where a model is larger than what is opened. */
#define SKIM_CURE "cut a part out (onnx.utils.extract_model) and open that"

struct skim {
	struct arena arena; /* holds the model; give back with skim_close */
	Onnx__ModelProto *model;
	uint64_t file_bytes; /* of the whole file or stream */
	uint64_t bytes_read; /* of them */
	size_t skeleton_bytes;
};

/* Reads path ("-": standard input). On failure there is nothing to close; the error is one line that names
 * the file and the cure. */
int skim_open(struct skim *s, const char *path, struct error *err);
void skim_close(struct skim *s);

/* One of a graph's initializers, into an empty arena. NULL with an error that lacks the file's name. */
Onnx__TensorProto *skim_initializer(struct arena *a, ProtobufCBinaryData initializer, struct error *err);

#endif
