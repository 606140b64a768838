#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check-nvcc-images.sh NVCC TEST-IMAGE DIRECTORY
# Builds one kernel in every form that nvcc can store it in, and has TEST-IMAGE read them all.
set -eu
nvcc=$1 test_image=$2 dir=$3
mkdir -p "$dir"
cat > "$dir/probe.cu" <<'END'
extern "C" __global__ void probe(float *a) { a[threadIdx.x] *= 2; }
END
both="-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90"
for mode in default size speed balance none; do
    # shellcheck disable=SC2086
    "$nvcc" -fatbin $both -compress-mode=$mode -o "$dir/$mode.fatbin" "$dir/probe.cu"
done
"$nvcc" -cubin -arch=sm_90 -o "$dir/probe.cubin" "$dir/probe.cu"
exec "$test_image" "$dir"/*.fatbin "$dir/probe.cubin"
