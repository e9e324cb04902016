/* dashboard_stub LISTEN empty|busy|alarm: serves made-up figures that move, until stdin ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_server.h"
#include "snapshot_fixture.h"

int main(int argc, char **argv) {
    static const char *const scenes[] = {"empty", "busy", "alarm"};
    struct engine e = {.seconds = -1};
    int scene = -1;
    for (int i = 0; argc == 3 && i < 3; i++)
        if (strcmp(argv[2], scenes[i]) == 0) scene = i;
    if (scene < 0) {
        fprintf(stderr, "usage: dashboard_stub LISTEN empty|busy|alarm\n");
        return 2;
    }
    e.scene = (enum fixture_scene)scene;
    if (e.scene == FIXTURE_ALARM) strcpy(e.hostile, "<img src=x onerror=alert(1)>");
    struct http_server *server;
    struct cuzk_error err;
    if (http_server_create(&server, &e, argv[1], &err) != CUZK_OK) {
        char text[1100];
        error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return 3;
    }
    printf("%u\n", http_server_port(server));
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    http_server_destroy(server);
    return 0;
}
