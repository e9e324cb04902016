/* `cuzk doctor`: every check of a start, without serving. */
#include <stdio.h>

#include "command.h"
#include "doctor_checks.h"
#include "options.h"

static void say_warning(void *ctx, const char *text) {
    doctor_say(ctx, DOCTOR_WARN, "configuration", NULL, "%s", text);
}

static void run_checks(struct doctor *d, const char *path) {
    struct config config;
    struct cuzk_error err = {0};
    if (config_read(&config, path, say_warning, d, &err) != CUZK_OK) {
        doctor_say_error(d, DOCTOR_FAIL, "configuration", &err);
        return;
    }
    d->config = &config;
    doctor_say(d, DOCTOR_OK, "configuration", NULL, "%s",
               path != NULL ? path : "no file: all defaults");
    log_set(LOG_LEVEL_ERROR, false);
    doctor_check_cpu(d);
    doctor_check_memory(d);
    doctor_check_parameters(d);
    doctor_check_disk(d);
    doctor_check_addresses(d);
    doctor_check_device(d);
    doctor_check_plan(d);
    config_free(&config);
    d->config = NULL;
}

static cuzk_status give_result(const struct doctor *d, struct cuzk_error *err) {
    if (d->count[DOCTOR_FAIL] == 0) return CUZK_OK;
    if (err != NULL) *err = d->first;
    return d->first.code;
}

cuzk_status command_doctor(int argc, char **argv, struct cuzk_error *err) {
    const char *path = NULL;
    bool json = false, help = false;
    const struct option_spec options[] = {
        {"config", OPTION_STRING, &path, "FILE", "the daemon's configuration (all defaults)",
         false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON", false},
        {.kind = OPTION_END},
    };
    const struct command_spec spec = {
        "cuzk doctor [--config FILE] [--json]",
        "Makes all the checks of the daemon's start without serving: processor, memory, parameter\n"
        "files, folders, addresses, a device's self-test, the plan. One line each: ok, warn or "
        "FAIL.",
        options};
    CUZK_TRY(options_parse(&spec, argc, argv, &help, err));
    if (help) return CUZK_OK;
    struct doctor d = {0};
    struct json_out j;
    if (json) {
        d.json = &j;
        json_begin(&j, stdout);
        json_object_begin(&j, NULL);
        json_array_begin(&j, "checks");
    }
    run_checks(&d, path);
    if (json) {
        json_array_end(&j);
        json_u64(&j, "ok", d.count[DOCTOR_OK]);
        json_u64(&j, "warn", d.count[DOCTOR_WARN]);
        json_u64(&j, "fail", d.count[DOCTOR_FAIL]);
        json_object_end(&j);
        json_end(&j);
    } else {
        printf("%u ok, %u warnings, %u failures\n", d.count[DOCTOR_OK], d.count[DOCTOR_WARN],
               d.count[DOCTOR_FAIL]);
    }
    return give_result(&d, err);
}
