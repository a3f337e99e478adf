/* Reading of tests/ops/ *.case: six lines a case, an empty line between two, '#' lines are comments.
 *
 *   op Slice 13                                     [domain/]name opset, then how many outputs an error case
 * has in f32[batch,3,?] s64.c[1]={0} -                type, ".c" constant, [dims], ={contents}; "-" omitted;
 *                                                   "f32" alone: rank unknown; "?<=8": unknown with an upper
 * bound; "seq:f32[2]*3", "opt:", "optseq:", "map:", "maps:": what it holds, how many attr axis=1 alpha=0.5
 * perm=[0,2,1] mode="x" names=["x","y"] value=f32[1]={0}    a number with a dot is a float out f32[batch,2,?]
 * one an output, "-" not asked for;  or: error part of the text cost 0 1024 flops and bytes, "-" not known;
 * ~0 1024: upper bounds problem move proxy copy:u8,u8:b512              class, then the problem text; "proxy"
 * before it where it stands in; "none: why" without a problem; nothing for class free
 */
#ifndef OPS_CASE_H
#define OPS_CASE_H

#include "ops/op.h"

#include <stdio.h>

struct ops_case {
	const char *file;
	int line;             /* of "op" */
	char *lines[6];       /* behind the keyword */
	struct op_call call;  /* inputs, outputs, node, op filled from the lines */
};

/* The next case from f, or false at the end; *bad set (one line) where the file is wrong. In arena a. */
bool ops_case_read(struct arena *a, FILE *f, const char *file, int *line, struct ops_case *out, char **bad);
/* An output as the "out" line has it. */
char *ops_value_text(struct arena *a, const struct op_value *v);

/* ops_run.c: all outputs, and class and problem, of a call that has been inferred. */
char *ops_outputs_text(struct arena *a, const struct op_call *c);
char *ops_problem_text(struct arena *a, const struct op_call *c);
/* Runs the call again with contents, dimensions or ranks of its inputs forgotten: then less may come out,
 * never something else. NULL, or what came out. full_failed: its rule has refused it. */
const char *ops_less_known(struct arena *a, const struct op_call *full, bool full_failed);

#endif
