import { formatWindow } from '../../domain/policy/window.ts'
import { serviceKindOf } from '../../domain/service-groups.ts'
import type { Capability } from '../../ports/capability.ts'
import type { ProxyDeps } from './deps.ts'
import { delaySecondsOf, operationOf } from './records.ts'

/** A write as it would be: how long it is held, and how it is undone once it ran. */
export type ForeseenWrite = { readonly held_seconds: number; readonly undo: string | null }

/** The write that a capability buffers: an operation has the name of its action. Null where it buffers none. */
export function foreseeWrite(
  deps: Pick<ProxyDeps, 'adapters' | 'settings'>,
  { name, group }: Pick<Capability, 'name' | 'group'>,
): ForeseenWrite | null {
  const kind = serviceKindOf(group)
  const operation = kind && operationOf(deps, { kind, operation: name.slice(group.length + 1) })
  if (!kind || !operation) return null
  const kept = formatWindow(deps.settings['proxy.rollback_kept'])
  return {
    held_seconds: delaySecondsOf(deps.settings, kind, operation),
    undo: operation.undoable
      ? `For ${kept} after it ran, writes.rollback undoes it. ${operation.undo_note}`
      : null,
  }
}
