import { GatehouseError } from '@gatehouse/contract'
import type { EngineParts } from './inference.ts'

const reason = 'this service was made without one'

/** In place of the parts where no engine can run, as in tests of other things. */
export const noEngine: EngineParts = {
  installer: {
    state: async () => ({ installed: false, version: '', problem: reason, remedy: null }),
    async install() {
      throw new GatehouseError('EngineSetupFailed', { detail: reason })
    },
  },
  host: {
    async start() {
      throw new GatehouseError('EngineNotInstalled', { reason })
    },
    availableMemory: async () => 0,
  },
}
