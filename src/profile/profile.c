/* The table of kinds, by which a file is recognized, and files that complete others. */
#include "config.h"

#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>

#include "model/sniff.h"
#include "profile/read/reader.h"
#include "profile/read/stream.h"

#define HEAD_BYTES (64 << 10)

/* In the order of recognition: signatures of binary files first, words in text last. */
static const struct profile_reader *const readers[] = {
	&profile_nsys,
	&profile_onnx,
	&profile_onnxruntime,
	&profile_onnxruntime_memory,
	&profile_kineto,
	&profile_trtexec,
	&profile_trtexec_layers,
	&profile_trtexec_times,
	&profile_trtexec_summary,
	&profile_openvino,
	&profile_onednn,
	&profile_cudnn,
	&profile_cublaslt,
	&profile_trtexec_log,
	&profile_nsys_csv,
};

#define READER_COUNT ((int)(sizeof(readers) / sizeof(readers[0])))

static const char *const kind_texts[] = {
#define KIND_TEXT(id, name, text) [PROFILE_##id] = text,
	PROFILE_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

static const char *const kind_names[] = {
#define KIND_NAME(id, name, text) [PROFILE_##id] = name,
	PROFILE_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

static void no_kind(const struct profile_head *h, struct error *err)
{
	struct str kinds = { 0 };
	const struct sniff *known = sniff_bytes(h->bytes, h->n);
	for (int i = 0; i < PROFILE_KIND_COUNT; i++)
		str_addf(&kinds, "%s%s", i ? "; " : "", kind_texts[i]);
	error_set(err, "%s: %s%s, not a profile; known files: %s", h->path,
		h->n == 0	? "an empty file"
			: known ? known->what
				: "an unknown file",
		h->gzip ? ", packed" : "", kinds.p);
	str_free(&kinds);
}

/* Returns the reader of a file, or NULL with an error. */
static const struct profile_reader *recognize(const char *path, struct error *err)
{
	struct stream *stream = stream_open(path, NULL, err);
	if (!stream)
		return NULL;
	char *bytes = base_calloc(1, HEAD_BYTES + 1);
	struct profile_head head = { .path = path, .bytes = bytes, .gzip = stream_is_gzip(stream) };
	const struct profile_reader *found = NULL;
	int64_t got;
	while ((got = stream_read(stream, bytes + head.n, HEAD_BYTES - head.n, err)) > 0)
		head.n += (size_t)got;
	for (int i = 0; got == 0 && i < READER_COUNT && !found; i++)
		if (readers[i]->is(&head))
			found = readers[i];
	if (found && head.gzip && !found->packed) {
		error_set(err, "%s: compressed; unpack it with gunzip (%s)", path, kind_texts[found->kind]);
		found = NULL;
	} else if (!found && got == 0)
		no_kind(&head, err);
	stream_close(stream);
	free(bytes);
	return found;
}

int profile_recognize(const char *path, struct error *err)
{
	const struct profile_reader *reader = recognize(path, err);
	return reader ? (int)reader->kind : -1;
}

/* Returns the file that file i completes: the nearest one before it of a kind that it can complete, else the
 * first after it, else -1. */
static int profile_of(const struct profile_reader *const *kinds, int count, int i)
{
	for (int j = i - 1; j >= 0; j--)
		if (!kinds[j]->completes && kinds[i]->completes & 1u << kinds[j]->kind)
			return j;
	for (int j = i + 1; j < count; j++)
		if (!kinds[j]->completes && kinds[i]->completes & 1u << kinds[j]->kind)
			return j;
	return -1;
}

/* Returns true if all times of the rows are 0 and the source has no other time, so that nothing can be
 * compared. */
static bool takes_no_time(const struct execution *e)
{
	bool any = false;
	for (int i = 0; i < e->row_count; i++) {
		if (e->rows[i].ns > 0)
			return false;
		any |= e->rows[i].ns == 0;
	}
	return any && !(e->profiled_ns > 0) && !(e->stats.median > 0);
}

static int read_all(struct arena *a, const char *const *paths, int count,
	const struct profile_reader *const *kinds, const struct profile_options *options,
	struct execution *all, struct error *err)
{
	int *of = ARENA_ARRAY(a, int, count), made = 0;
	for (int i = 0; i < count; i++) {
		of[i] = kinds[i]->completes ? profile_of(kinds, count, i) : -1;
		if (of[i] < 0 && kinds[i]->completes && !kinds[i]->alone)
			return error_set(err, "%s: %s; also give the profile that it belongs to",
				paths[i], kind_texts[kinds[i]->kind]);
	}
	for (int i = 0; i < count; i++) {
		if (of[i] >= 0)
			continue;
		all[made] = execution_new();
		all[made].source = kind_names[kinds[i]->kind];
		if (kinds[i]->read(a, paths[i], options, &all[made], err))
			return -1;
		for (int j = 0; j < count; j++)
			if (of[j] == i && kinds[j]->read(a, paths[j], options, &all[made], err))
				return -1;
		if (takes_no_time(&all[made]))
			return error_set(err,
				"%s: every event takes 0 ns; profile several runs of the model, "
				"with a clock of finer resolution",
				paths[i]);
		made++;
	}
	return made;
}

int profile_read(struct arena *a, const char *const *paths, int count, const struct profile_options *options,
	struct execution **executions, struct error *err)
{
	const struct profile_reader **kinds = ARENA_ARRAY(a, const struct profile_reader *, count);
	for (int i = 0; i < count; i++)
		if (!(kinds[i] = recognize(paths[i], err)))
			return -1;
	*executions = ARENA_ARRAY(a, struct execution, count);
	return read_all(a, paths, count, kinds, options, *executions, err);
}
