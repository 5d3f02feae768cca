import { systemOp } from '../call/op.ts'
import { publishRaised, raiseIn, resolveIn } from '../supervision/alerts.ts'
import type { ProxyDeps } from './deps.ts'

const keyOf = (service: string): string => `system:writes:${service}`

/** Tells people that writes of a service failed and wait for them: once, until none is left. */
export async function warnOfDeadLetters(deps: ProxyDeps, service: string): Promise<void> {
  // Several end at once: each counts in the step that raises or resolves, or the last word could be an older count's.
  const raised = await deps.auditLog.transaction(async (tx) => {
    const dead = (await tx.writes.counts()).get(service)?.dead ?? 0
    if (dead === 0) {
      await resolveIn(systemOp(deps), tx, keyOf(service))
      return null
    }
    // One that was acknowledged says nothing of what failed since.
    if (await tx.alerts.findOpen(keyOf(service))) return null
    return raiseIn(systemOp(deps), deps, tx, {
      source: 'system',
      kind: 'writes',
      severity: 'warning',
      message: `Writes to ${service} failed and wait for a person: send them again, or discard them.`,
      context: { service },
      dedup_key: keyOf(service),
    })
  })
  if (raised) publishRaised(deps, raised)
}
