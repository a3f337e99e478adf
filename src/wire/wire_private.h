/* Shared by the files of the wire: reading and writing single keys. */
#ifndef WIRE_WIRE_PRIVATE_H
#define WIRE_WIRE_PRIVATE_H

#include "wire/wire.h"

#define WIRE_NAME_MAX 4096  /* bytes; a longer name is an error */
#define WIRE_LONG_MAX 65536 /* bytes of attributes, and of kernels: C++ template names are long */

/* Sets a string (json_text). Returns what json_object_set_new does. */
int wire_set_text(json_t *o, const char *key, const char *s);
/* Sets *s to the string at key, "" if it is absent or null. Another type or more than `most` bytes is an
 * error. */
int wire_get_long_text(const json_t *o, const char *key, size_t most, const char **s, struct error *err);
/* The same for a string of at most WIRE_NAME_MAX bytes. */
int wire_get_text(const json_t *o, const char *key, const char **s, struct error *err);
/* Sets *n to the integer >= 0 at key; to `otherwise` if it is absent or null. */
int wire_get_count(const json_t *o, const char *key, int64_t otherwise, int64_t *n, struct error *err);
/* Sets *x to the number >= 0 at key; to NaN if it is absent or null. */
int wire_get_amount(const json_t *o, const char *key, double *x, struct error *err);
/* Sets *word to the enum value of the string at key, by the enum's parser; to `otherwise` if it is absent. */
int wire_get_word(const json_t *o, const char *key, int (*parse)(const char *), int otherwise, int *word,
	struct error *err);

/* The object as a line with its newline, malloc'd; releases the object. */
char *wire_line(json_t *o);

/* Convert statistics to an object and back. from_json fails without an object, a sample or a median. */
json_t *wire_stats_to_json(const struct sample_stats *s);
int wire_stats_from_json(const json_t *o, struct sample_stats *s, struct error *err);
int wire_stats_read(const json_t *o, struct sample_stats *s, struct error *err); /* without those checks */
struct sample_stats wire_stats_unknown(void);

/* wire_execution.c: the keys of the messages of agents, besides "type" and "id". */
int wire_model_format(const struct wire_model *model, json_t *o);
int wire_model_parse(const json_t *o, struct wire_message *m, struct error *err);
json_t *wire_inputs_to_json(const struct wire_input *inputs, int count);
int wire_inputs_from_json(const json_t *list, struct arena *a, const struct wire_input **inputs, int *count,
	struct error *err);
/* An integer from 0 to INT32_MAX; `otherwise` if it is absent. */
int wire_get_int(const json_t *o, const char *key, int otherwise, int *n, struct error *err);
/* Sets *level to one of the levels of graph optimizations, "" if it is absent. */
int wire_get_level(const json_t *o, const char **level, struct error *err);
/* wire_trial.c */
json_t *wire_try_to_json(const struct wire_try *t);
int wire_try_from_json(const json_t *o, struct arena *a, struct wire_try *t, struct error *err);
json_t *wire_trial_to_json(const struct wire_trial *t);
int wire_trial_from_json(const json_t *o, struct wire_trial *t, struct error *err);
int wire_execution_format(const struct wire_message *m, json_t *o);
int wire_execution_parse(const json_t *o, struct wire_message *m, struct error *err);
int wire_row_format(const struct wire_message *m, json_t *o);
int wire_row_parse(const json_t *o, struct wire_message *m, struct error *err);
int wire_need_format(const struct wire_message *m, json_t *o);
int wire_need_parse(const json_t *o, struct wire_message *m, struct error *err);
int wire_file_format(const struct wire_message *m, json_t *o);
int wire_file_parse(const json_t *o, struct wire_message *m, struct error *err);

#endif
