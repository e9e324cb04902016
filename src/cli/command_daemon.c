/* `cuzk daemon`: the same as cuzk-daemon. */
#include "command.h"
#include "daemon_run.h"

cuzk_status command_daemon(int argc, char **argv, struct cuzk_error *err) {
    return daemon_run("cuzk daemon [--config FILE] [--listen ADDR] [--log-level LEVEL]", argc, argv,
                      NULL, err);
}
