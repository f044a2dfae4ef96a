// SPDX-License-Identifier: Apache-2.0
// Time: cycle counters round a dependent chain of loads, the global timer, polite waiting.
// Exercises: %clock64, %globaltimer, %smid, %warpid, nanosleep, volatile loads,
// pmevent, a loop whose only exit is on time.

extern "C" __global__ void load_latency(const volatile unsigned *chain, long long *cycles,
                                        unsigned *last, int hops) {
    unsigned at = threadIdx.x;
    const long long start = clock64();
    for (int h = 0; h < hops; ++h) at = chain[at];
    const long long stop = clock64();
    *last = at;
    *cycles = stop - start;
}

extern "C" __global__ void wait_for_flag(const volatile int *flag, unsigned long long limit_ns,
                                         int *answer, uint4 *where) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    unsigned pause = 32;
    int seen = 0;
    do {
        seen = *flag;
        if (seen != 0) break;
        __nanosleep(pause);
        pause = min(pause * 2, 4096u);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < limit_ns);
    uint4 w;
    asm("mov.u32 %0, %%smid;" : "=r"(w.x));
    asm("mov.u32 %0, %%warpid;" : "=r"(w.y));
    asm("mov.u32 %0, %%nsmid;" : "=r"(w.z));
    asm("mov.u32 %0, %%clock;" : "=r"(w.w));
    __prof_trigger(3);
    if (threadIdx.x == 0) {
        *answer = seen;
        *where = w;
    }
}
