/* Plans and analyses as JSON (benanza-json(5)), CSV and tables for people. */
#ifndef COMMANDS_REPORT_H
#define COMMANDS_REPORT_H

#include "session/session.h"

#include <stdio.h>

/* Dimensions in force, { "sequence": 64 }, and where each value comes from, { "sequence": "remembered" }. */
json_t *report_dims_json(const struct plan *p);
json_t *report_dims_from_json(const struct session *s);
/* On standard error, for outputs that do not show them: dimensions that the database remembers. */
void report_dims_note(const struct session *s);
/* `layers --json`, one object. */
void report_layers_json(const struct session *s, FILE *out); /* one line */
/* header: with the line of column names, for the first of several plans. */
void report_layers_csv(const struct session *s, bool header, FILE *out);
/* constants: list the layers that only make constants, too. */
void report_layers_text(const struct session *s, bool constants, FILE *out);

/* `bound --json`: one object of the session's current analysis. */
json_t *report_bound_json(const struct session *s);
void report_bound_csv(const struct session *s, bool header, FILE *out);
void report_bound_text(const struct session *s, FILE *out);

/* What plan_needs tells: an array of strings, and a line of its own for people, none where nothing is missing. */
json_t *report_needs_json(const struct plan *p);
void report_needs_text(const struct plan *p, FILE *out);

/* One JSON object on one line. Consumes the reference. */
void report_json_line(json_t *object, FILE *out);
/* A field of a CSV line with what follows it: quoted where it must be, and never a formula for a spreadsheet. */
void report_csv_field(FILE *out, const char *text, char after);
/* The first two fields of every CSV line, "8,bf16,": the batch is empty where it is not known. */
void report_csv_plan(FILE *out, const struct plan *p);

#endif
