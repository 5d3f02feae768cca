import type { AuditReader } from '../ports/audit.ts'
import type { Gates } from '../ports/gates.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { PolicySource } from '../ports/policy.ts'
import type { Basics } from './call/basics.ts'
import { systemOp } from './call/op.ts'
import type { VaultUseCases } from './reach/vault-access.ts'
import type { AuditAccess } from './supervision/audit-access.ts'

type Deps = Pick<Basics, 'ids' | 'log'> &
  Pick<VaultUseCases, 'lockVault' | 'unlockVault'> & {
    readonly gates: Gates | null
    readonly audit: Pick<
      AuditAccess,
      'acknowledge' | 'applyRetention' | 'health' | 'integrity' | 'retention' | 'sign'
    > &
      Pick<AuditReader, 'verify'>
    readonly metrics: Pick<Metrics, 'values'>
    readonly policy: Pick<PolicySource, 'reload'>
    readonly sessions: { count(): number }
    readonly processes: { running(): number }
    readonly callRunsHere: (agent: string) => Promise<boolean>
    readonly signal: AbortSignal
  }

/** Answers what the other gate processes of this node ask, and follows what they say. */
export const answerGates = (deps: Deps): void => {
  const { gates, log } = deps
  if (!gates) return
  gates.answer('facts', async () => {
    const { status, reason, entries } = deps.audit.health()
    return {
      status,
      reasons: reason === undefined ? [] : [`gate process ${gates.index + 1}: ${reason}`],
      sessions: deps.sessions.count(),
      processes: deps.processes.running(),
      entries,
      integrity: deps.audit.integrity(),
    }
  })
  gates.answer('verify log', () => deps.audit.verify())
  gates.answer('sign log', async () => {
    await deps.audit.sign()
    return null
  })
  gates.answer('acknowledge log', ({ reason, ...by }) =>
    deps.audit.acknowledge(reason, { ...by, own_only: true }),
  )
  gates.answer('retention', async (by) =>
    by ? deps.audit.applyRetention(by) : deps.audit.retention(),
  )
  gates.answer('metrics', () => deps.metrics.values())
  gates.answer('call runs', deps.callRunsHere)
  gates.answer('read policy', async () => {
    await deps.policy.reload()
    return null
  })
  if (gates.index === 0) return
  gates.answer('lock vault', async () => {
    await deps.lockVault(systemOp(deps))
    return null
  })
  gates.onNews('vault unlocked', ({ passphrase }) => {
    const unlocked = deps.unlockVault(systemOp(deps), passphrase === null ? {} : { passphrase })
    unlocked.catch((cause: unknown) => log.error({ err: cause }, 'the vault stays locked here'))
  })
}
