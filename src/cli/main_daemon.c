/* `cuzk-daemon`. */
#include <stdio.h>

#include "daemon_run.h"

int main(int argc, char **argv) {
    struct cuzk_error err = {0};
    const cuzk_status s = daemon_run(
        "cuzk-daemon [--config FILE] [--listen ADDR] [--log-level LEVEL]", argc, argv, NULL, &err);
    if (s == CUZK_OK) return 0;
    char text[1200];
    error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return status_exit_code(s);
}
