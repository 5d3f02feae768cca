/**
 * The one object that policy, digest, audit and executor see: `-0` becomes `0`, and nothing in it can
 * change any more.
 */
export const freezeDeep = <T>(value: T): T => {
  if (typeof value === 'number') return (Object.is(value, -0) ? 0 : value) as T
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const entries = value as Record<string, unknown>
  for (const key of Object.keys(entries)) entries[key] = freezeDeep(entries[key])
  return Object.freeze(value)
}

/** An upper bound of the bytes that a value takes as JSON, far cheaper than writing it. */
export const jsonBytesMax = (value: unknown): number => {
  if (typeof value === 'string') return value.length * 6 + 2
  if (typeof value !== 'object' || value === null) return 26
  let sum = 2
  if (Array.isArray(value)) for (const item of value) sum += jsonBytesMax(item) + 1
  else
    for (const key in value)
      sum += key.length * 6 + 4 + jsonBytesMax((value as Record<string, unknown>)[key])
  return sum
}
