import type { Rung, SandboxReport } from '@gatehouse/contract'
import type { Sandbox, SandboxState } from '../ports/sandbox.ts'
import type { PartHealth } from './doors.ts'

const unconfinedRemedy =
  'Take sandbox.mode out of the configuration once a sandbox holds on this machine.'

export const sandboxReport = (state: SandboxState): SandboxReport =>
  state.usable
    ? {
        usable: true,
        rung: state.rung,
        detail: state.detail,
        remedy: state.rung === 'unconfined' ? unconfinedRemedy : null,
      }
    : { usable: false, rung: 'none', detail: state.reason, remedy: state.remedy }

/** Programs that run with the rights of the service are a state to end; none that run at all is safe. */
export const sandboxHealth = (sandbox: Sandbox): PartHealth & { readonly rung: Rung } => {
  const { usable, rung, detail } = sandboxReport(sandbox.state())
  if (!usable) return { status: 'disabled', rung, reason: `programs do not run: ${detail}` }
  return rung === 'unconfined'
    ? { status: 'degraded', rung, reason: detail }
    : { status: 'healthy', rung }
}

/** Tries it anew, with a real program. */
export const probeSandbox = async (deps: { readonly sandbox: Sandbox }): Promise<SandboxReport> =>
  sandboxReport(await deps.sandbox.probe())
