/*
 * Replays a folder of inputs through a fuzz target, so that each corpus is a test in every build.
 * Exit code 1 when the folder is missing or empty: a replay that replays nothing must not pass.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static int replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) return -1;
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    rewind(f);
    /* Exactly n bytes, so that a sanitizer sees a read past the end. */
    uint8_t *data = malloc(n > 0 ? (size_t)n : 1);
    const int ok = data != NULL && fread(data, 1, (size_t)n, f) == (size_t)n;
    fclose(f);
    if (ok) LLVMFuzzerTestOneInput(data, (size_t)n);
    free(data);
    return ok ? 0 : -1;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    DIR *folder = opendir(argv[1]);
    if (folder == NULL) {
        fprintf(stderr, "no corpus at %s\n", argv[1]);
        return 1;
    }
    int n = 0;
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        if (replay_file(path) != 0) {
            fprintf(stderr, "cannot read %s\n", path);
            return 1;
        }
        n++;
    }
    closedir(folder);
    printf("replayed %d inputs\n", n);
    return n > 0 ? 0 : 1;
}
