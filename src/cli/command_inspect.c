#include <inttypes.h>
#include <stdio.h>

#include "c1.h"
#include "circuit_name.h"
#include "command.h"
#include "hash.h"
#include "json_out.h"
#include "mem.h"
#include "options.h"

struct inspect_field {
    const char *name;
    const uint8_t *bytes;
};

enum { N_VALUES = 5 };

static void list_values(struct inspect_field out[N_VALUES], const struct c1_values *v) {
    out[0] = (struct inspect_field){"replica_id", v->replica_id};
    out[1] = (struct inspect_field){"comm_r", v->comm_r};
    out[2] = (struct inspect_field){"comm_d", v->comm_d};
    out[3] = (struct inspect_field){"seed", v->seed};
    out[4] = (struct inspect_field){"ticket", v->ticket};
}

static const char *kind_text(enum seal_kind kind) {
    switch (kind) {
    case SEAL_INTERACTIVE:
        return "interactive";
    case SEAL_SYNTHETIC:
        return "synthetic";
    case SEAL_NON_INTERACTIVE:
        return "non-interactive";
    }
    return "unknown";
}

static void print_json(const struct c1 *c1) {
    const struct registered_seal *seal = c1_registered(c1);
    char id[CIRCUIT_ID_BYTES];
    circuit_id(id, registered_seal_shape(seal));
    uint64_t number = 0;
    struct json_out j;
    json_begin(&j, stdout);
    json_object_begin(&j, NULL);
    json_string(&j, "registered_proof", seal->name);
    if (seal->number >= 0) json_u64(&j, "registered_proof_number", (uint64_t)seal->number);
    json_string(&j, "challenges_drawn", kind_text(seal->kind));
    json_string(&j, "circuit_id", id);
    json_u64(&j, "sector_bytes", seal->sector_bytes);
    if (c1_sector_number(c1, &number)) json_u64(&j, "sector_number", number);
    json_bool(&j, "wrapped", c1_is_wrapped(c1));
    json_u64(&j, "partitions", c1_partitions(c1));
    json_u64(&j, "challenges_per_partition", registered_seal_shape(seal)->n_challenges);
    json_u64(&j, "public_inputs_per_partition", c1_public_inputs_count(c1));
    struct inspect_field fields[N_VALUES];
    list_values(fields, c1_values(c1));
    for (int i = 0; i < N_VALUES; i++) {
        char hex[65];
        hex_encode(hex, fields[i].bytes, 32);
        json_string(&j, fields[i].name, hex);
    }
    json_u64(&j, "decoded_bytes", c1_bytes(c1));
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const struct c1 *c1) {
    const struct registered_seal *seal = c1_registered(c1);
    const struct porep_shape *shape = registered_seal_shape(seal);
    char id[CIRCUIT_ID_BYTES], bytes[32];
    circuit_id(id, shape);
    uint64_t number = 0;
    if (seal->number >= 0) {
        printf("registered proof  %s (%d)\n", seal->name, seal->number);
    } else {
        printf("registered proof  %s (a test size, without a number)\n", seal->name);
    }
    printf("challenges        %s\n", kind_text(seal->kind));
    printf("circuit           %s\n", id);
    printf("sector size       %s\n", shape->size_name);
    if (c1_sector_number(c1, &number)) {
        printf("sector number     %" PRIu64 "\n", number);
    } else {
        printf("sector number     not in the file (the inner JSON alone)\n");
    }
    printf("partitions        %u, of %u challenges each\n", c1_partitions(c1), shape->n_challenges);
    printf("public inputs     %zu a partition\n", c1_public_inputs_count(c1));
    struct inspect_field fields[N_VALUES];
    list_values(fields, c1_values(c1));
    for (int i = 0; i < N_VALUES; i++) {
        char hex[65];
        hex_encode(hex, fields[i].bytes, 32);
        printf("%-17s %s\n", fields[i].name, hex);
    }
    printf("decoded           %s\n", format_bytes(bytes, c1_bytes(c1)));
}

cuzk_status command_inspect(int argc, char **argv, struct cuzk_error *err) {
    const char *path = NULL;
    bool json = false, help = false;
    const struct option_spec options[] = {
        {"c1", OPTION_STRING, &path, "FILE", "the C1 file", true},
        {"json", OPTION_FLAG, &json, NULL, "print JSON", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {"cuzk inspect --c1 FILE [--json]",
                                      "Decodes a C1 file and shows what is in it. The form of "
                                      "every field is checked; whether the\n"
                                      "values are right is what `cuzk prove --check-only` says.",
                                      options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    struct c1 *c1 = NULL;
    CUZK_TRY(c1_decode_file(&c1, path, NULL, err));
    if (json) {
        print_json(c1);
    } else {
        print_text(c1);
    }
    c1_destroy(c1);
    return CUZK_OK;
}
