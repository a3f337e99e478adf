#ifndef CONFIG_CONFIG_PRIVATE_H
#define CONFIG_CONFIG_PRIVATE_H

#include "config/option_table.h"

#define CONFIG_FILE_MAX (1 << 20) /* bytes of a YAML file */

/* Reads a YAML file into c. only: the single key that it may have; NULL: all keys. Errors begin with
 * "path:line: ". */
int config_read_yaml(struct config *c, const char *path, const char *only, struct error *err);
/* Path of benanza's file below an XDG directory, or NULL; relative XDG paths are ignored, as the
 * specification requires. */
const char *config_xdg(struct arena *a, const char *variable, const char *below_home, const char *file);
/* config_scenarios.c: adds the scenarios that were saved. */
int config_read_saved(struct config *c, struct error *err);

#endif
