import { getHeapStatistics } from 'node:v8'
import type { HeldLimits } from '../../app/call/memory-budget.ts'

const mib = 1024 * 1024

/** Memory of the service beside requests: its code, its tables, and room to collect garbage. */
const ownBytes = 48 * mib

/** Bytes that may be held at once for a heap of this size: in all, and for one agent. */
export const heldBytesFor = (
  heapBytes: number = getHeapStatistics().heap_size_limit,
): HeldLimits => {
  const heldBytesMax = Math.max(16 * mib, Math.floor((heapBytes - ownBytes) / 2))
  return { heldBytesMax, heldBytesPerAgentMax: Math.floor(heldBytesMax / 4) }
}
