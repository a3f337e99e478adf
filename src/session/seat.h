/* A seat: a device with its results, and its runner or planner. A session has the present one; others are
 * awaited, leave, or are compared with it. Only `asked` depends on the model. Internal. */
#ifndef SESSION_SEAT_H
#define SESSION_SEAT_H

#include "session/recorded.h"
#include "session/session.h"

struct seat {
	struct seat *next;            /* in a list of the session */
	const char *key;
	enum session_device_kind kind;
	const struct config *config;  /* in the arena, or the one given to session_open */
	struct results *results;
	struct recorded_file *recorded; /* file of the data directory, read as plans need it; NULL: not such a
					   device */
	struct queue *queue;          /* NULL: no runner for the device (recorded device or --frame without
					 one) */
	struct device device;         /* strings live in the arena; name NULL until known */
	struct arena arena;
	const struct described *described; /* described device: costs are estimates, nothing is measured; else
					      NULL */
	struct planner *planner;      /* of a described device; else NULL */
	const struct session_plan *asked; /* the plan whose problems were sent to the planner, in layout
					     asked_variants; or NULL */
	unsigned asked_variants;
	uint64_t counted_version;     /* of its planner, when session_beside_total took a total */
	struct peaks peaks;           /* by seat_renew_peaks; they may have gaps (peaks_known) */
	char trouble[ERROR_TEXT_SIZE]; /* why the requested runner does not answer, so that records are shown;
					  or why the device cannot be opened; else "" */
};

/* A seat without a device, with that configuration, which is borrowed. */
struct seat *seat_new(const struct config *config);
/* A seat for the device, whose configuration names it. --threads applies to runners only, not to a recorded
 * device that the user selects. */
struct seat *seat_for(const struct config *given, const struct session_device *d);
void seat_free(struct seat *seat); /* may be NULL */
void seats_free(struct seat **list);
/* Copies the device of a hello or record into the seat. */
void seat_adopt(struct seat *seat, const struct device *d);
/* Opens a recorded or described device in its seat. Results of a file are read later, by the problems. */
int seat_open(struct seat *seat, struct store *store, const struct session_device *d, struct error *err);
/* Takes a described device, with a planner; `d` must live as long as the seat. */
void seat_describe(struct seat *seat, const struct described *d);
/* Computes the device's peaks from its results, or takes those of its description. */
void seat_renew_peaks(struct seat *seat);
/* The compared seat of a device, opened at the first call; its `trouble` says why it cannot be opened. */
struct seat *seat_compared(struct session *s, const struct session_device *d);

#endif
