import { parseStored } from '../../domain/parse-stored.ts'
import type { Briefing } from '../../ports/capability.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { type WakeTable, wakeRecord } from './wakes.ts'

const shownMax = 100

type Marker = { readonly ms: number; readonly policy: string }

export type BriefingDeps = Pick<Basics, 'storage' | 'clock'> & {
  readonly policy: PolicySource
  readonly wakes: Pick<WakeTable, 'seen'>
}

const markerKey = (agent: string): string => `briefing:${agent}`

const iso = (ms: number): string => new Date(ms).toISOString()

/** Briefing of an agent: changes since the last one, or since a moment it names. */
export async function briefing(
  deps: BriefingDeps,
  { agent }: Call,
  since: string | undefined,
): Promise<Briefing> {
  const { storage, clock, policy } = deps
  const { name } = agent
  const stored = await storage.meta.get(markerKey(name))
  const last = stored === null ? null : parseStored<Marker>(stored, `meta.${markerKey(name)}`)
  const nowMs = clock.wall()
  // A clock that was set back must not hide what happened since: the earlier of both counts.
  const sinceMs =
    since === undefined ? Math.min(last?.ms ?? agent.created_ms, nowMs) : Date.parse(since)
  // Events of this very millisecond are left whole to the next briefing.
  const isNews = (ms: number) => ms >= sinceMs && ms < nowMs
  const [approvals, pending, mailbox, woken] = await Promise.all([
    storage.approvals.list({ agent: name, limit: shownMax, offset: 0 }),
    storage.approvals.countPending(name),
    storage.messages.listFor(name, { nowMs, limit: shownMax }),
    storage.wakes.listOf(name, sinceMs, shownMax),
  ])
  const wakes = woken.filter((wake) => isNews(wake.woken_ms))
  const version = policy.current().version
  const marker: Marker = { ms: nowMs, policy: version }
  await storage.meta.set(markerKey(name), JSON.stringify(marker))
  await deps.wakes.seen(wakes.filter((wake) => wake.seen_ms === null).map(({ id }) => id))
  return {
    since: iso(sinceMs),
    until: iso(nowMs),
    approvals: {
      decided: approvals.approvals.flatMap((approval) =>
        approval.decided_ms !== null && isNews(approval.decided_ms)
          ? [
              {
                approval_id: approval.id,
                capability: approval.capability,
                status: approval.status,
                decided_at: iso(approval.decided_ms),
                reason: approval.decision_reason,
                execution: approval.execution,
              },
            ]
          : [],
      ),
      pending,
    },
    messages: {
      waiting: mailbox.total,
      from: [...new Set(mailbox.messages.map(({ sender }) => sender))],
    },
    wakes: wakes.map(wakeRecord),
    policy: { version, changed: last !== null && last.policy !== version },
    shared_keys: [],
  }
}
