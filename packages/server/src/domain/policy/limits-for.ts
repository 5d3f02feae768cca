import { itemsFor, type LayerIndex } from './chain.ts'
import type { LayerLimit } from './types.ts'

/** The limits that a call counts under, of the layers that hold for its agent. */
export const limitsFor = (
  layers: readonly LayerIndex[],
  capability: string,
): readonly LayerLimit[] => {
  const found = layers.map((index) => ({
    system: index.layer.layer === 'system',
    limits: itemsFor(index.limits, capability),
  }))
  const own = new Set(
    found.flatMap(({ system, limits }) => (system ? [] : limits.map((limit) => limit.match))),
  )
  const kept = new Map<string, LayerLimit>()
  for (const { system, limits } of found) {
    for (const limit of limits) {
      if (system && own.has(limit.match)) continue
      const key = `${limit.match} ${limit.window_ms}`
      const other = kept.get(key)
      if (!other || limit.limit < other.limit) kept.set(key, limit)
    }
  }
  return [...kept.values()]
}
