/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samples share. A sample prints results and error codes, nothing that
 * differs from one run to the next (addresses, times, free memory).
 */
#ifndef VCUDA_SAMPLES_COMMON_CUH
#define VCUDA_SAMPLES_COMMON_CUH

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/* For calls whose result is the test: prints it. */
#define SHOW(call) std::printf("%s = %s\n", #call, cudaGetErrorName(call))

/* For calls that must succeed. */
#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t r_ = (call);                                                                   \
        if (r_ != cudaSuccess) {                                                                   \
            std::printf("%s:%d: %s gave %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(r_));   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* What was printed before a crash is seen. */
__attribute__((constructor)) static void print_lines() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

/* One number for many bytes (FNV-1a). */
static inline uint64_t digest(const void *data, size_t bytes) {
    const unsigned char *p = static_cast<const unsigned char *>(data);
    uint64_t h = 14695981039346656037ull;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 1099511628211ull;
    return h;
}

template <typename T> static inline void show_digest(const char *what, const std::vector<T> &v) {
    std::printf("%s: %016llx\n", what, (unsigned long long)digest(v.data(), v.size() * sizeof(T)));
}

/* A repeatable stream of numbers. */
static inline uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Device memory that holds a copy of v, for any stream. */
template <typename T> static inline T *on_device(const std::vector<T> &v) {
    T *p;

    CK(cudaMalloc(&p, v.size() * sizeof(T)));
    CK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    /* It may be under way still, and not all streams wait for the default one. */
    CK(cudaDeviceSynchronize());
    return p;
}

template <typename T> static inline std::vector<T> from_device(const T *p, size_t n) {
    std::vector<T> v(n);

    CK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}

#endif
