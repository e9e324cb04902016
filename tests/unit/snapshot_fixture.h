/*
 * Hand-made snapshots, and an engine that gives them: what HTTP and the metrics are tested with.
 *
 * The fixture defines engine_snapshot_take, engine_snapshot_free and engine_ready; a program that
 * links it gets no other engine.
 */
#ifndef TEST_SNAPSHOT_FIXTURE_H
#define TEST_SNAPSHOT_FIXTURE_H

#include "engine.h"

enum fixture_scene {
    FIXTURE_EMPTY, /* just started: nothing loaded, no device, no job */
    FIXTURE_BUSY,  /* two devices, jobs of 10 partitions in all stages */
    FIXTURE_ALARM, /* the same with a failed device, invalid proofs, and hardly any memory left */
};

/* As it stands `seconds` after the start; free with engine_snapshot_free. Aborts without memory. */
struct engine_snapshot *snapshot_fixture(enum fixture_scene scene, double seconds);

/* What engine_snapshot_take and engine_ready answer. Set while no server runs. */
struct engine {
    enum fixture_scene scene;
    double seconds;   /* < 0: as many as have gone by since the program's start */
    bool no_memory;   /* engine_snapshot_take fails */
    char hostile[96]; /* stands as request id of the first job and as name of the first device */
    unsigned taken;   /* snapshots that were taken; read while no request is under way */
};

#endif
