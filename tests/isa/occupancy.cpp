// The toolkit's occupancy arithmetic on lines of numbers from standard input; a line of blocks each.
#include <cstdio>
#include <climits>
#include <cuda_occupancy.h>

int main() {
    int major, minor, threads_block, threads_sm, regs_block, regs_sm, registers, threads, barriers;
    long shared_sm, optin, reserved, shared;
    while (std::scanf("%d %d %d %d %d %d %ld %ld %ld %d %d %ld %d", &major, &minor, &threads_block, &threads_sm,
                      &regs_block, &regs_sm, &shared_sm, &optin, &reserved, &registers, &threads, &shared,
                      &barriers) == 13) {
        cudaOccDeviceProp device = {};
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = threads_block;
        device.maxThreadsPerMultiprocessor = threads_sm;
        device.regsPerBlock = regs_block;
        device.regsPerMultiprocessor = regs_sm;
        device.warpSize = 32;
        device.sharedMemPerBlock = 49152;
        device.sharedMemPerMultiprocessor = shared_sm;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes kernel = {};
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = registers;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = shared;
        kernel.numBlockBarriers = barriers;
        cudaOccDeviceState state = {};
        cudaOccResult result;
        cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, shared);
        std::printf("%d\n", status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -int(status));
    }
}
