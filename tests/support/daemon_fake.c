/* cuzk-daemon with a fake device, for the tests of what is around one: CUZK_FAKE_DEVICE has the
 * device's options (device_fake.h). Not installed. */
#include <stdio.h>
#include <stdlib.h>

#include "daemon_run.h"

static void use_fake_device(struct config *c) {
    const char *options = getenv("CUZK_FAKE_DEVICE");
    for (unsigned i = 0; i < c->engine.n_devices; i++) {
        c->engine.devices[i].backend = "fake";
        c->engine.devices[i].options = options;
    }
    c->engine.accept_fake_proofs = true;
}

int main(int argc, char **argv) {
    struct cuzk_error err = {.code = CUZK_OK};
    if (daemon_run("cuzk-daemon-fake [options]", argc, argv, use_fake_device, &err) == CUZK_OK)
        return 0;
    char text[1200];
    error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return status_exit_code(err.code);
}
