/*
 * The slabs that a device's process has mapped, by number.
 *
 * A slab that is dropped while tasks use it stays mapped for them; its number is unknown at once.
 * Threads: the caller's lock.
 */
#ifndef DEVICE_DEVICE_MAPS_H
#define DEVICE_DEVICE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device_protocol.h"

struct device_map {
    uint64_t slab_id; /* 0: unknown, or a free place */
    const void *ptr;  /* NULL: a free place */
    size_t bytes;
    unsigned uses;
};

struct device_maps {
    struct device_map map[DEVICE_MAX_SLABS + DEVICE_MAX_TASKS];
};

/* Maps a slab for reading; `fd` stays the caller's. Errors: DEVICE_PROTOCOL (known already, or the
 * memory is smaller than it is said to be), NO_MEMORY. */
CUZK_NODISCARD cuzk_status device_maps_add(struct device_maps *maps, const struct device_slab *slab,
                                           int fd, struct cuzk_error *err);
void device_maps_drop(struct device_maps *maps, uint64_t slab_id); /* unknown: nothing */

/* NULL: no such slab, or it is smaller than this. The map is used until device_maps_release. */
struct device_map *device_maps_use(struct device_maps *maps, uint64_t slab_id, uint64_t bytes);
void device_maps_release(struct device_map *map); /* accepts NULL */

#endif
