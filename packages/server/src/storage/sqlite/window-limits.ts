import type { SlidingWindows } from '../../domain/sliding-window.ts'
import type { RateLimits } from '../../ports/limits.ts'

/** The limits of a store that this process owns alone: whatever is counted, is counted here. */
export const windowLimits = (windows: SlidingWindows): RateLimits => ({
  take: (keys, nowMs) => windows.take(keys, nowMs),
  restore(stamps) {
    for (const stamp of stamps) windows.restore(stamp)
  },
  used: async (key, nowMs) => windows.used(key, nowMs),
})
