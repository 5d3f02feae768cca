import { GatehouseError } from '@gatehouse/contract'

/** A number that no version of ours stored, wherever it stands: which column it is, is not told. */
export const hugeNumber = 'a whole number beyond 2^53'

/**
 * Reads JSON as it stands in the store, at this place: a table and its column, or `meta` and a key. The bytes of a database
 * can change on a disk.
 * @throws StoreDamaged for what is no JSON any more.
 */
export const parseStored = <T>(text: string, place: string): T => {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new GatehouseError('StoreDamaged', { place }, { cause })
  }
}
