/* Sizes and times as people write them. Threads: pure. */
#ifndef CLI_CONFIG_VALUE_H
#define CLI_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * "44GiB", "1.5 GiB", "500MB", "1048576": bytes. Units B, KB … TB (powers of 1000), KiB … TiB
 * (powers of 1024), also K, M, G, T for the latter. False: no size, or one that does not fit.
 */
bool size_parse(uint64_t *bytes, const char *text);

/* "5m", "1h30m", "90s", "250ms", "2d", "300" (seconds): nanoseconds. False: no time, or too long.
 */
bool duration_parse(uint64_t *ns, const char *text);

#endif
