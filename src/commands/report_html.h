/* Parts of the page of report_bound_html. */
#ifndef COMMANDS_REPORT_HTML_H
#define COMMANDS_REPORT_HTML_H

#include "session/session.h"
#include "table/print.h"

/* A date and time in UTC; "unknown" if it has none. Returns buf. */
const char *html_date(char *buf, size_t size, int64_t at);

/* The charts as SVG inside the page: roofline, schedule, distributions, and the difference from a real
 * execution. What cannot be drawn says why. */
void report_charts_html(struct session *s, FILE *out);
/* What to do first, from the session's scenario on. A search takes tens of analyses: of a model with very
 * many layers it names the command that searches. */
void report_advice_html(struct session *s, FILE *out);

#endif
