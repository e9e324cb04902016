/* The engine's own copy of its configuration; not for others. */
#ifndef ENGINE_ENGINE_CONFIG_H
#define ENGINE_ENGINE_CONFIG_H

#include "engine_internal.h"

/* Checks, copies every text, fills in the usual values. Errors: CONFIG, NO_MEMORY. */
CUZK_NODISCARD cuzk_status engine_config_copy(struct engine_config *out,
                                              const struct engine_config *in,
                                              struct cuzk_error *err);
void engine_config_free(struct engine_config *c);

#endif
