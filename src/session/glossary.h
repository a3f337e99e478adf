/* The terms of screens, reports and man pages. The section GLOSSARY of benanza(1) and the explorer's help are
 * generated from this table. */
#ifndef SESSION_GLOSSARY_H
#define SESSION_GLOSSARY_H

#include "base/str.h"

struct glossary_row {
	const char *term;
	const char *text; /* one or two sentences */
};

/* In alphabetical order. */
const struct glossary_row *glossary_table(int *count);
/* The table, and then the states (session/state.h), as man(7). */
void glossary_man(struct str *out);

#endif
