/* What every cmocka program includes, in the order that cmocka wants. */
#ifndef TEST_MAIN_H
#define TEST_MAIN_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#endif
