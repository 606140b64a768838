/* SPDX-License-Identifier: Apache-2.0 */
/* All tests of the engine, one line each. */
#ifndef PTX_TESTS_H
#define PTX_TESTS_H

#define ALL_TESTS(T)                                                                               \
    T(test_vector_add)                                                                             \
    T(test_matmul)                                                                                 \
    T(test_reduce)                                                                                 \
    T(test_histogram)                                                                              \
    T(test_em_step)                                                                                \
    T(test_recursion)                                                                              \
    T(test_function_pointers)                                                                      \
    T(test_values)                                                                                 \
    T(test_printf)                                                                                 \
    T(test_variables)                                                                              \
    T(test_divergence)                                                                             \
    T(test_waiting)                                                                                \
    T(test_groups)                                                                                 \
    T(test_barriers)                                                                               \
    T(test_cancel)                                                                                 \
    T(test_deadlock)                                                                               \
    T(test_warp_sync)                                                                              \
    T(test_faults)                                                                                 \
    T(test_launch_checks)                                                                          \
    T(test_refusals)                                                                               \
    T(test_integers)                                                                               \
    T(test_compare)                                                                                \
    T(test_floats)                                                                                 \
    T(test_conversions)                                                                            \
    T(test_lanes)                                                                                  \
    T(test_memory)                                                                                 \
    T(test_async_stages)                                                                           \
    T(test_async_parts)                                                                            \
    T(test_cluster_places)                                                                         \
    T(test_cluster_memory)                                                                         \
    T(test_cluster_waits)                                                                          \
    T(test_cluster_checks)                                                                         \
    T(test_texture_points)                                                                         \
    T(test_texture_filters)                                                                        \
    T(test_texture_levels)                                                                         \
    T(test_texture_formats)                                                                        \
    T(test_surface_bytes)                                                                          \
    T(test_textures_run)                                                                           \
    T(test_damaged)

#define DECLARE(name) void name(void **state);
ALL_TESTS(DECLARE)

#endif
