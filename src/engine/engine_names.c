#include "engine.h"

const char *engine_kind_name(enum engine_kind kind) {
    switch (kind) {
    case ENGINE_KIND_POREP:
        return "porep";
    case ENGINE_KIND_SNAP:
        return "snap";
    case ENGINE_KIND_WINDOW_POST:
        return "wpost";
    case ENGINE_KIND_WINNING_POST:
        return "winning";
    case ENGINE_KIND_NONE:
        break;
    }
    return "none";
}

const double engine_bucket_bounds[ENGINE_BUCKETS] = {0.1, 0.5, 1,   2.5, 5,   10,   20,
                                                     40,  80,  160, 320, 640, 1280, 2560};
