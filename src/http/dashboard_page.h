/* dashboard.html, put into the program at build time (embed.cmake); no NUL at its end. */
#ifndef HTTP_DASHBOARD_PAGE_H
#define HTTP_DASHBOARD_PAGE_H

#include <stddef.h>

extern const unsigned char dashboard_page[];
extern const size_t dashboard_page_bytes;

#endif
