#include "device_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "error.h"

static struct device_map *find(struct device_maps *maps, uint64_t slab_id) {
    for (size_t i = 0; i < sizeof maps->map / sizeof maps->map[0]; i++)
        if (maps->map[i].slab_id == slab_id && (slab_id != 0 || maps->map[i].ptr == NULL))
            return &maps->map[i];
    return NULL;
}

cuzk_status device_maps_add(struct device_maps *maps, const struct device_slab *slab, int fd,
                            struct cuzk_error *err) {
    struct stat st;
    if (find(maps, slab->slab_id) != NULL)
        return error_set(err, CUZK_DEVICE_PROTOCOL, "SLAB", "report this", "it is known already");
    struct device_map *place = find(maps, 0);
    if (place == NULL)
        return error_set(err, CUZK_DEVICE_PROTOCOL, "SLAB", "report this", "they are too many");
    if (fstat(fd, &st) != 0 || st.st_size < 0 || (uint64_t)st.st_size < slab->bytes)
        return error_set(err, CUZK_DEVICE_PROTOCOL, "SLAB", "report this",
                         "it is smaller than it is said to be");
    void *ptr = mmap(NULL, slab->bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (ptr == MAP_FAILED)
        return error_set(err, CUZK_NO_MEMORY, "slab", "raise the limit of address space or maps",
                         "%llu bytes cannot be mapped: %s", (unsigned long long)slab->bytes,
                         strerror(errno));
    *place = (struct device_map){.slab_id = slab->slab_id, .ptr = ptr, .bytes = slab->bytes};
    return CUZK_OK;
}

static void unmap(struct device_map *map) {
    munmap((void *)(uintptr_t)map->ptr, map->bytes);
    *map = (struct device_map){0};
}

void device_maps_drop(struct device_maps *maps, uint64_t slab_id) {
    struct device_map *map = slab_id != 0 ? find(maps, slab_id) : NULL;
    if (map == NULL) return;
    map->slab_id = 0;
    if (map->uses == 0) unmap(map);
}

struct device_map *device_maps_use(struct device_maps *maps, uint64_t slab_id, uint64_t bytes) {
    struct device_map *map = slab_id != 0 ? find(maps, slab_id) : NULL;
    if (map == NULL || map->bytes < bytes) return NULL;
    map->uses++;
    return map;
}

void device_maps_release(struct device_map *map) {
    if (map == NULL) return;
    map->uses--;
    if (map->uses == 0 && map->slab_id == 0) unmap(map);
}
