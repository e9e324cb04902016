/*
 * A partition's private inputs from a file of tests/fixtures/porep: `partition-K.bin`, made once
 * from the public implementation's c1.json.
 *
 * All 32-byte values are canonical, little-endian; integers are little-endian:
 *
 *     partition   replica_id comm_d comm_r comm_c comm_r_last, u32 n, n challenges
 *     challenge   u64 node, path in tree D, path in tree R-last, column c_x,
 *                 columns of the 6 DRG parents, columns of the 8 expander parents
 *
 *     column      u32 n, n rows, path in tree C
 *
 *     path        leaf, root, u32 n, n elements from the leaf up
 *
 *     element     u32 index, u32 n, n siblings
 */
#ifndef TESTS_PARTITION_FIXTURE_H
#define TESTS_PARTITION_FIXTURE_H

#include "porep.h"

struct partition_fixture {
    struct porep_partition partition;
    struct porep_challenge *challenges;
    struct path_element *elements; /* of all paths */
};

/* Asserts that the file is there and well formed. */
void partition_fixture_load(struct partition_fixture *f, const char *path);
void partition_fixture_free(struct partition_fixture *f);

#endif
