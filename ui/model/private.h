/* Shared by the files of ui/model. */
#ifndef UI_MODEL_PRIVATE_H
#define UI_MODEL_PRIVATE_H

#include "ui/model/app.h"

/* places.c: after the plan changed; after the set of listed layers changed */
void places_renew(struct app *app);
void listed_renew(struct app *app);
/* names.c: after the list was rebuilt, finds short names that several listed layers would share */
void app_names_renew(struct app *app);
/* facts.c: after every analysis, counts failed and unmeasured problems */
void app_counts_renew(struct app *app);
/* agent.c */
struct app_agent *app_agent_new(void);
void app_agent_free(struct app_agent *agent); /* ends its process */

#endif
