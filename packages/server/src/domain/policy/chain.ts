import { patternsOf, rulePatternsOf } from './match.ts'
import type { Layer, LayerLimit, LayerRule } from './types.ts'

/** The rules of one layer that speak of one capability. */
export type Level = {
  /** In file order, up to the first that always holds. */
  readonly rules: readonly LayerRule[]
  /** Rules after it, which are never looked at. */
  readonly shadowed: readonly LayerRule[]
  readonly hasFloor: boolean
}

/** Lowest layer first: agent, organisation, system. */
export type Chain = readonly Level[]

type Entry<T> = { readonly position: number; readonly item: T }
export type PatternIndex<T> = ReadonlyMap<string, readonly Entry<T>[]>

export const indexByPattern = <T extends { readonly match: string }>(
  items: readonly T[],
): PatternIndex<T> => {
  const index = new Map<string, Entry<T>[]>()
  items.forEach((item, position) => {
    const entries = index.get(item.match)
    if (entries) entries.push({ position, item })
    else index.set(item.match, [{ position, item }])
  })
  return index
}

/** Items that match a capability, in file order. */
export const itemsFor = <T>(
  index: PatternIndex<T>,
  capability: string,
  patterns = patternsOf(capability),
): readonly T[] =>
  patterns
    .flatMap((pattern) => index.get(pattern) ?? [])
    .toSorted((a, b) => a.position - b.position)
    .map((entry) => entry.item)

export type LayerIndex = {
  readonly layer: Layer
  readonly rules: PatternIndex<LayerRule>
  readonly limits: PatternIndex<LayerLimit>
}

export const indexLayer = (layer: Layer): LayerIndex => ({
  layer,
  rules: indexByPattern(layer.rules),
  limits: indexByPattern(layer.limits),
})

export const levelFor = (index: LayerIndex, capability: string): Level => {
  const all = itemsFor(index.rules, capability, rulePatternsOf(capability))
  const always = all.findIndex((rule) => rule.when === null)
  const rules = always < 0 ? all : all.slice(0, always + 1)
  return {
    rules,
    shadowed: all.slice(rules.length),
    hasFloor: rules.some((rule) => rule.floor),
  }
}

/** The names of arguments that some condition of the chain reads; null where one could read any. */
export const argumentsRead = (chain: Chain): ReadonlySet<string> | null => {
  const read = new Set<string>()
  for (const { rules } of chain)
    for (const { when } of rules) {
      if (!when?.readsArguments) continue
      if (!when.reads) return null
      for (const name of when.reads) read.add(name)
    }
  return read
}
