#include "msm_kernel.h"

#include <pthread.h>
#include <stdlib.h>

#include "msm.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct msm_kernel *chosen_g1 = &msm_portable_g1;
static const struct msm_kernel *chosen_g2 = &msm_portable_g2;
static const char *chosen_name = "portable";

#ifdef MSM_HAVE_IFMA
/* Everything that the files with the vector kernels are compiled for. */
static bool have_ifma(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512ifma") &&
           __builtin_cpu_supports("bmi2");
}
#endif

static void choose(void) {
    const char *wish = getenv("CUZK_CPU");
    if (wish != NULL && strcmp(wish, "portable") == 0) return;
#ifdef MSM_HAVE_IFMA
    if (!have_ifma()) return;
    chosen_g1 = &msm_ifma_g1;
    chosen_g2 = &msm_ifma_g2;
    chosen_name = "avx512-ifma";
#endif
}

const struct msm_kernel *msm_kernel_g1(void) {
    pthread_once(&once, choose);
    return chosen_g1;
}

const struct msm_kernel *msm_kernel_g2(void) {
    pthread_once(&once, choose);
    return chosen_g2;
}

const char *msm_kernel_name(void) {
    pthread_once(&once, choose);
    return chosen_name;
}
