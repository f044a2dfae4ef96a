"""Category 4: what a kernel takes of the GPU: registers, shared memory, occupancy."""
