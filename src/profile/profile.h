/* Profiles that other programs wrote, as executions (problem/execution.h). A file is recognized by its
 * content, not by its name. Files are hostile: every text is cleaned, sizes and depths have limits, and what
 * cannot be read is an error of one line that names the file and the place. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <signal.h>

#include "base/error.h"
#include "problem/execution.h"

#define PROFILE_KIND_LIST(_)                                                            \
	_(ONNXRUNTIME, "onnxruntime", "profile of ONNX Runtime (JSON)")                   \
	_(ONNXRUNTIME_MEMORY, "onnxruntime-memory", "memory of ONNX Runtime's nodes (CSV)")     \
	_(TRTEXEC, "trtexec", "trtexec --exportProfile (JSON)")                           \
	_(TRTEXEC_LAYERS, "trtexec-layers", "trtexec --exportLayerInfo (JSON)")           \
	_(TRTEXEC_TIMES, "trtexec-times", "trtexec --exportTimes (JSON)")                 \
	_(TRTEXEC_LOG, "trtexec-log", "output of trtexec --dumpProfile (text)")           \
	_(TRTEXEC_SUMMARY, "trtexec-summary", "summary of trtexec by TREx (JSON)")        \
	_(NSYS, "nsys", "Nsight Systems, exported as SQLite")                             \
	_(NSYS_CSV, "nsys-csv", "Nsight Systems, nsys stats (CSV)")                       \
	_(KINETO, "kineto", "PyTorch profiler (Chrome trace)")                            \
	_(OPENVINO, "openvino", "counters of OpenVINO's benchmark_app (CSV, JSON)")        \
	_(ONEDNN, "onednn", "oneDNN verbose (text)")                                      \
	_(CUDNN, "cudnn", "log of cuDNN 7 or 9 (text)")                                   \
	_(CUBLASLT, "cublaslt", "log of cuBLASLt (text)")                                 \
	_(ONNX, "onnx", "ONNX model as the framework optimized it")
enum profile_kind {
#define PROFILE_KIND_ENUM(id, name, text) PROFILE_##id,
	PROFILE_KIND_LIST(PROFILE_KIND_ENUM)
#undef PROFILE_KIND_ENUM
	PROFILE_KIND_COUNT
};

/* Returns the kind of a file, also compressed with gzip; -1 with an error that lists the known kinds. */
int profile_recognize(const char *path, struct error *err);

struct profile_options {
	const volatile sig_atomic_t *stop; /* NULL, or set by a signal handler to end the reading */
	void (*progress)(void *user, double share); /* NULL, or called now and then, 0 to 1 */
	void *user;
};

/* Reads files into executions, in their order; strings are in the arena. Files that belong together give one
 * execution: an optimized model or layer information completes the profile before it, or the first one after
 * it. Returns the number of executions; -1 with an error. A truncated file gives its complete part and a note
 * in `gaps`. options may be NULL. */
int profile_read(struct arena *a, const char *const *paths, int count, const struct profile_options *options,
	struct execution **executions, struct error *err);

#endif
