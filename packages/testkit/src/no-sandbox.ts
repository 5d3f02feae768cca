import { GatehouseError } from '@gatehouse/contract'
import type { Sandbox, SandboxState } from '@gatehouse/server/ports/sandbox'

/** A machine on which no sandbox holds. */
export const noSandbox = (): Sandbox => {
  const reason = 'this test has no sandbox'
  const state: SandboxState = { usable: false, reason, remedy: 'Give the kit one.' }
  const refuse = () => Promise.reject(new GatehouseError('SandboxUnavailable', { reason }))
  return { state: () => state, probe: async () => state, ready: refuse, spawn: refuse, run: refuse }
}
