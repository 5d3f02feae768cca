import type { SandboxBackend, SandboxReport } from '@gatehouse/contract'
import type { Sandbox, SandboxState } from '../../ports/sandbox.ts'
import type { PartHealth } from '../call/part.ts'

const chosenRemedy =
  'Take sandbox.mode out of the configuration once a stronger sandbox holds on this machine.'

export const sandboxReport = (state: SandboxState): SandboxReport =>
  state.usable
    ? {
        usable: true,
        backend: state.backend,
        detail: state.detail,
        remedy: state.backend === 'bubblewrap' ? null : (state.remedy ?? chosenRemedy),
      }
    : { usable: false, backend: 'none', detail: state.reason, remedy: state.remedy }

/** Less than the strongest sandbox is a state to end, and known to all; none that run at all is safe. */
export const sandboxHealth = (
  sandbox: Sandbox,
): PartHealth & { readonly backend: SandboxBackend } => {
  const { usable, backend, detail } = sandboxReport(sandbox.state())
  if (!usable) return { status: 'disabled', backend, reason: `programs do not run: ${detail}` }
  return backend === 'bubblewrap'
    ? { status: 'healthy', backend }
    : { status: 'degraded', backend, reason: detail }
}

/** Tries it anew, with a real program. */
export const probeSandbox = async (deps: { readonly sandbox: Sandbox }): Promise<SandboxReport> =>
  sandboxReport(await deps.sandbox.probe())
