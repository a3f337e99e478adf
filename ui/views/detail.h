/* The details page of the selected layer; an item is a layer that Enter opens. Lines made by detail.c and,
 * for algorithms and measurements, detail_results.c. */
#ifndef UI_VIEWS_DETAIL_H
#define UI_VIEWS_DETAIL_H

#include "ui/model/page.h"
#include "ui/views/view.h"

/* detail_lines.c */
/* Adds a line; text must live as long as the page. jump: layer that Enter opens, or -1. */
void detail_add(struct page *d, enum style style, int jump, const char *text);
#define ADD(d, style, jump, ...) detail_add((d), (style), (jump), arena_printf(&(d)->arena, __VA_ARGS__))
/* Adds an empty line and a heading. */
void detail_heading(struct page *d, const char *text);
/* Adds text broken at blanks into lines that begin with the indent. */
void detail_wrapped(struct page *d, enum style style, const char *indent, const char *text);
/* Text of a model without control characters; lives as long as the page. */
const char *detail_clean(struct page *d, struct text t);

/* State of a problem without results, at the end of a line: "not measured", "queue 2". */
const char *detail_problem_word(struct app *app, struct page *d, const char *problem, enum style *style);
/* The algorithms measured (or planned) for one problem, one per row. */
void detail_results(struct app *app, struct page *d, const char *title, const char *problem);
/* Every measurement of one problem with its samples and layouts. */
void detail_measurements(struct app *app, struct page *d, const char *title, const char *problem);

/* Real time, ratio and kernel of the layer (detail_real.c). */
void detail_real(struct app *app, struct page *d);

#endif
