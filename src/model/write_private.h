/* The writer's parts. Messages of protobuf-c live in the writer's arena. Private to the room. */
#ifndef MODEL_WRITE_PRIVATE_H
#define MODEL_WRITE_PRIVATE_H

#include "model/write.h"
#include "base/hash.h"
#include "model/onnx.pb-c.h"

#define WRITE_BYTES_MAX ((int64_t)2000 << 20) /* protobuf's limit is 2 GiB */

/* A growing list of messages. */
struct messages {
	void **items;
	size_t count, capacity;
};

struct writer {
	const struct write_request *r;
	struct arena arena;
	struct hash names; /* used in the file */
	uint64_t random;   /* state of the generator */
	int64_t bytes;	   /* of initializers so far */
	int64_t opset;	   /* version of ai.onnx, 0: none */
	struct messages opsets;
	struct error *err;
};

/* A graph that is being written. */
struct written {
	const struct written *parent;
	const struct graph *graph;
	struct text *names; /* of its values, given when they are first used; p is NULL before that */
	struct messages nodes, initializers, inputs, outputs, infos;
};

ProtobufCBinaryData write_bytes(struct text t);
/* A name for something called `name` in the model that is not used yet. */
struct text write_name(struct writer *w, struct text name);
/* A weight of unknown contents. */
int write_weight(
	struct writer *w, struct written *g, struct text name, enum dtype t, int rank, const int64_t *dims);
/* A tensor with its contents; without them (data is NULL) random ones. NULL on errors. */
Onnx__TensorProto *write_tensor(struct writer *w, struct text name, const struct tensor *t);
int write_initializer(struct writer *w, struct written *g, struct text name, const struct tensor *t);
/* A declared type; NULL if ONNX cannot name it. */
Onnx__TypeProto *write_type(struct writer *w, enum value_kind kind, enum dtype dtype, struct shape shape);

#endif
