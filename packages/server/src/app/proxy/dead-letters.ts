import { systemOp } from '../call/op.ts'
import { raiseAlert, resolveAlert } from '../supervision/alerts.ts'
import type { ProxyDeps } from './deps.ts'

const keyOf = (service: string): string => `system:writes:${service}`

/** Tells people that writes of a service failed and wait for them: once, until none is left. */
export async function warnOfDeadLetters(deps: ProxyDeps, service: string): Promise<void> {
  const dead = (await deps.storage.writes.counts()).get(service)?.dead ?? 0
  const open = await deps.storage.alerts.findOpen(keyOf(service))
  if (dead === 0) {
    if (open) await resolveAlert(systemOp(deps), deps, open.id)
    return
  }
  if (open) return
  await raiseAlert(systemOp(deps), deps, {
    source: 'system',
    kind: 'writes',
    severity: 'warning',
    message: `Writes to ${service} failed and wait for a person: send them again, or discard them.`,
    context: { service },
    dedup_key: keyOf(service),
  })
}
