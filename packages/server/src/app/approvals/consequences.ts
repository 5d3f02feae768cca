import type { Consequences } from '@gatehouse/contract'
import { needsSandbox } from '../../domain/needs-sandbox.ts'
import type { Capability, CapabilityRegistry } from '../../ports/capability.ts'
import type { Sandbox } from '../../ports/sandbox.ts'

type Way = Pick<Consequences, 'held_seconds' | 'undo'>

export type ConsequenceDeps = {
  readonly registry: Pick<CapabilityRegistry, 'find'>
  readonly sandbox: Pick<Sandbox, 'state'>
  /** The write that a capability would buffer; null where it buffers none. */
  readonly foreseeWrite: (capability: Capability) => Way | null
}

/** Null where it starts no program, and where none can run. What a client does is in no sandbox of ours. */
const isSandboxed = (
  { sandbox }: Pick<ConsequenceDeps, 'sandbox'>,
  capability: Capability,
): boolean | null => {
  if (capability.performer === 'client') return false
  if (!needsSandbox(capability)) return null
  const state = sandbox.state()
  return state.usable ? state.backend !== 'unconfined' : null
}

/** Consequences of a call, by the definition of its capability as it is now; null where there is none. */
export function consequencesOf(
  deps: ConsequenceDeps,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Consequences | null {
  const capability = deps.registry.find(name)
  if (!capability) return null
  const { effect, side_effects, undo } = capability
  const write = effect === 'buffered' ? deps.foreseeWrite(capability) : null
  return {
    effect,
    side_effects: [...side_effects],
    ...(write ?? { held_seconds: null, undo: undo?.(args as never) ?? null }),
    sandboxed: isSandboxed(deps, capability),
  }
}
