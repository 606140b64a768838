// SPDX-License-Identifier: Apache-2.0
/* Wrong arguments to calls about occupancy, and to launches as they once were. */
#include "common.h"

KERNELS(basics);

static void occupancy(void) {
    CUfunction f;
    size_t bytes;

    start();
    f = function(module(ptx_basics), "dynamic_shared");
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 0, 32));
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, -1, 32));
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, 0));
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, -1));
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, 5000));
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1000, 32));
}

static void old_launch(void) {
    CUfunction f;

    start();
    f = function(module(ptx_basics), "scale");
    SHOW(cuParamSetSize(f, 20));
    SHOW(cuFuncSetBlockShape(f, 1, 1, 1));
    SHOW(cuParamSeti(f, 100000, 1));
    SHOW(cuLaunchGrid(f, 0, 1));
    SHOW(cuLaunchGrid(f, 1, 1));
    SHOW(cuCtxSynchronize());
}

int main(void) {
    apart("occupancy", occupancy);
    apart("old launches", old_launch);
    return 0;
}
