/* Memory layouts: the ones a source may arrive in, and their names as oneDNN's users write them (nChw8c, OIhw8i8o). */
#ifndef RUNNER_ONEDNN_LAYOUT_H
#define RUNNER_ONEDNN_LAYOUT_H

#include "runner/onednn_compat.h"

/* What `any` becomes. LIBRARY leaves the choice to the library, where its primitive takes that. */
enum onednn_choice { CHOICE_LIBRARY, CHOICE_NCX, CHOICE_NXC, CHOICE_BLOCK8, CHOICE_BLOCK16, CHOICE_COUNT };

#define ONEDNN_LAYOUT_SIZE 96

/* Row-major and channels-last strides of dense tensors. */
void onednn_strides_ncx(int rank, const int64_t *dims, int64_t *strides);
void onednn_strides_nxc(int rank, const int64_t *dims, int64_t *strides);

/* The descriptor for an operand: its own layout, or the choice where it is `any`. NULL: not possible. Owned. */
onednn_md onednn_layout_md(const struct operand *o, int rank, const int64_t *dims, dnnl_data_type_t type,
	enum onednn_choice choice);

/* Can tensors of these dimensions be laid out so? Blocked ones need channels enough to fill a block. */
bool onednn_choice_fits(enum onednn_choice choice, int rank, const int64_t *dims);

/* The name of a descriptor's layout, with `letters` for its dimensions ("nchw", "goihw", "abc"). */
char *onednn_layout_name(char buf[ONEDNN_LAYOUT_SIZE], onednn_md md, const char *letters);

#endif
