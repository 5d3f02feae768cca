import { GatehouseError } from '@gatehouse/contract'
import type { ModelParts } from './models.ts'

const nothing = (): never => {
  throw new GatehouseError('NotFound', { path: 'models' })
}

/** In place of the parts where no files of models are kept. */
export const noModels: ModelParts = {
  files: {
    pathOf: nothing,
    holds: async () => false,
    partialBytes: async () => 0,
    freeBytes: async () => 0,
    availableMemory: async () => 0,
    fetch: async () => nothing(),
    inspect: async () => nothing(),
    hash: async () => null,
    header: async () => nothing(),
    reject: async () => undefined,
    remove: async () => 0,
  },
  source: {
    url: null,
    kept: async () => null,
    keep: async () => undefined,
    fetch: async () => null,
  },
}
