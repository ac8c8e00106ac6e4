# The bugs that the fault drill plants, a row each (cmake/Faults.cmake). lessons/*/drill.md asks about them.
memwall_fault(lost-barrier 03_shared_tile.cuh
    [[        }
        SYNC();
    }
    store_outputs]]
    [[        }

    }
    store_outputs]]
    03_shared_tile.cuh shared_tile "32, 32, 16, 1, 32, 1, 1, 1" "float, float, nn, gate_none")
memwall_fault(swapped-lanes 02_coalesced.cuh
    [[row = t / Tile::BN, col = t % Tile::BN;]]
    [[row = t % Tile::BM, col = t / Tile::BM;]]
    02_coalesced.cuh coalesced "16, 32, 1, 1, 32, 1, 1, 1" "float, float, nn, gate_none")
memwall_fault(wrong-swizzle async_operand.cuh
    [[(line / (8 / WAYS) % WAYS)]]
    [[(line / 8 % WAYS)]]
    07_tensor_core.cuh tensor_core "64, 64, 32, 64, 64, 1, 1, 3" "bf16, bf16, nn, gate_none")
memwall_fault(short-k 04_register_tile.cuh
    [[step < w.k_end; ++step]]
    [[step < w.k_end - 1; ++step]]
    04_register_tile.cuh register_tile "64, 64, 8, 32, 64, 8, 8, 1" "float, float, nn, gate_none")
memwall_fault(lost-mask operand.cuh
    [[return select(ld_shared(gate, k * PITCH + outer, at) > 0.0f, v, lane<float>(0.0f));]]
    [[return v;]]
    03_shared_tile.cuh shared_tile "32, 32, 16, 1, 32, 1, 1, 1" "float, float, tn, gate_values")
memwall_fault(early-read 06_async_copy.cuh
    [[copy_wait<STAGES - 2>();]]
    [[copy_wait<STAGES - 1>();]]
    06_async_copy.cuh async_copy "64, 64, 8, 32, 64, 8, 8, 3" "float, float, nn, gate_none")
