#ifndef CONFIG_CONFIG_PRIVATE_H
#define CONFIG_CONFIG_PRIVATE_H

#include "config/option_table.h"

#define CONFIG_FILE_MAX (1 << 20) /* bytes of a YAML file */

/* Reads a YAML file into c. only: the single key that it may have; NULL: all keys. Errors begin with
 * "path:line: ". */
int config_read_yaml(struct config *c, const char *path, const char *only, struct error *err);

#endif
