#include "fp.h"
#include "msm_kernel.h"

#define COORDINATE    fp
#define FIELD(name)   fp_##name
#define GROUP(name)   g1_##name
#define SELF(name)    portable_g1_##name
#define SUM_MEMBER    in_g1
#define GROUP_TABLE   msm_group_g1
#define KERNEL_TABLE  msm_portable_g1
#define SLICE_RECORDS 4096
#define ADD_NS        250.0
#define BATCH_NS      2600.0
#include "msm_portable_impl.h"
#undef COORDINATE
#undef FIELD
#undef GROUP
#undef SELF
#undef SUM_MEMBER
#undef GROUP_TABLE
#undef KERNEL_TABLE
#undef SLICE_RECORDS
#undef ADD_NS
#undef BATCH_NS

#define COORDINATE    fp2
#define FIELD(name)   fp2_##name
#define GROUP(name)   g2_##name
#define SELF(name)    portable_g2_##name
#define SUM_MEMBER    in_g2
#define GROUP_TABLE   msm_group_g2
#define KERNEL_TABLE  msm_portable_g2
#define SLICE_RECORDS 2048
#define ADD_NS        750.0
#define BATCH_NS      2800.0
#include "msm_portable_impl.h"
