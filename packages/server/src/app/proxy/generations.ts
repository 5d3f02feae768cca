import type { MetaStore } from '../../ports/storage.ts'

const highestKey = 'service_generation'

const highest = async (meta: MetaStore): Promise<number> =>
  Number((await meta.get(highestKey)) ?? 0)

/**
 * Generation of a service that is new. Its name may have been another one's, and a process that holds something of that one
 * tells the two apart by the generation alone, so no generation returns.
 */
export const firstGeneration = async (meta: MetaStore): Promise<number> => (await highest(meta)) + 1

/** Keeps the generation of a service whose row goes, so that no later one has it. */
export const leaveGeneration = async (meta: MetaStore, generation: number): Promise<void> =>
  meta.set(highestKey, String(Math.max(generation, await highest(meta))))
