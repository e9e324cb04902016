/*
 * Proves every partition of a sector with libcuzk:  prove C1-FILE PARAMETER-FOLDER OUT-FILE
 *
 * cc prove.c $(pkg-config --cflags --libs cuzk)
 */
#include <stdio.h>
#include <stdlib.h>

#include <cuzk/cuzk.h>

static struct cuzk_error err;

static void must(cuzk_status status) {
    if (status == CUZK_OK) return;
    char text[1200];
    cuzk_error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: prove C1-FILE PARAMETER-FOLDER OUT-FILE\n");
        return 2;
    }
    cuzk_context *ctx = NULL;
    cuzk_sector *sector = NULL;
    cuzk_circuit *circuit = NULL;
    cuzk_params *params = NULL;
    struct cuzk_sector_info info;

    must(cuzk_context_create(&ctx, NULL, &err));
    must(cuzk_sector_read(ctx, &sector, argv[1], &err));
    must(cuzk_sector_check(ctx, sector, NULL, &err));
    cuzk_sector_get_info(sector, &info);
    must(cuzk_circuit_create(ctx, &circuit, info.circuit_id, &err));
    must(cuzk_params_load(ctx, &params, circuit, argv[2], &err));

    FILE *out = fopen(argv[3], "wb");
    if (out == NULL) {
        perror(argv[3]);
        return 3;
    }
    for (unsigned k = 0; k < info.n_partitions; k++) {
        cuzk_pending *pending = NULL;
        uint8_t proof[CUZK_PROOF_BYTES];
        must(cuzk_prove_start(ctx, &pending, circuit, params, sector, k, NULL, &err));
        must(cuzk_prove_finish(ctx, proof, pending, &err)); /* verified, or an error */
        cuzk_pending_destroy(pending);
        fwrite(proof, sizeof proof, 1, out);
        printf("partition %u of %u\n", k + 1, info.n_partitions);
    }
    const int written = fclose(out) == 0;
    cuzk_params_destroy(params);
    cuzk_circuit_destroy(circuit);
    cuzk_sector_destroy(sector);
    cuzk_context_destroy(ctx);
    return written ? 0 : 3;
}
