/* A stand-in for cuDNN's backend descriptors on host memory: it keeps what attributes it is given, refuses what the library
 * would (missing attributes, shapes that do not fit), and executes an operation graph in double, slowly. */
#ifndef FAKE_CUDNN_GRAPH_H
#define FAKE_CUDNN_GRAPH_H

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_ATTRIBUTES 24

struct fake_attribute {
	cudnnBackendAttributeName_t name;
	cudnnBackendAttributeType_t type;
	int64_t count;
	void *bytes;
};

struct fake_node {                        /* a descriptor */
	cudnnBackendDescriptorType_t kind;
	bool finalized;
	int attribute_count;
	struct fake_attribute attribute[FAKE_ATTRIBUTES];
	struct fake_node *graph;          /* engine configurations and engines: what they are for */
	cudnnBackendHeurMode_t mode;      /* the heuristics that gave an engine configuration */
};

extern struct fake_cudnn_graph {
	int created, destroyed;           /* descriptors */
	int executed, packs;              /* executions; variant packs finalized */
	cudnnStatus_t plan_status;        /* what the next plans finalize to; 0: success */
	cudnnStatus_t execute_status;
	cudnnBackendHeurMode_t silent;    /* this mode of the heuristics names nothing; CUDNN_HEUR_MODES_COUNT: all do */
	uint32_t numerical, behaviour;    /* notes of the engine */
	cudaStream_t stream;              /* that the handle is on */
	char why[256];                    /* what cudnnGetLastErrorString gives; first line of a refusal */
} fake_cudnn_graph;

/* NULL: not set. */
const struct fake_attribute *fake_attribute(const struct fake_node *n, cudnnBackendAttributeName_t name);
/* Aborts where it is not set: a builder has forgotten it. */
const void *fake_values(const struct fake_node *n, cudnnBackendAttributeName_t name);
int64_t fake_int64(const struct fake_node *n, cudnnBackendAttributeName_t name, int64_t index);
struct fake_node *fake_link(const struct fake_node *n, cudnnBackendAttributeName_t name);

/* Executes a graph on the pack's memory. false: fake_cudnn_graph.why says what does not fit. */
bool fake_graph_execute(const struct fake_node *graph, const struct fake_node *pack);

#endif
