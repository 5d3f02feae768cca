import {
  type AlertHandling,
  type AlertMute,
  GatehouseError,
  type MuteAlerts,
  type RouteAlerts,
  type UnmuteAlerts,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredAlert } from '../../ports/alerts.ts'
import type { Notifier } from '../../ports/notifier.ts'
import type { MetaStore } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { actorText, type Op } from '../call/op.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock'> & {
  readonly notifier: Pick<Notifier, 'targets'>
}

/** Under this key stands who is notified of which alerts. */
const key = 'alert_handling'

const isFor = (mute: AlertMute, kind: string, agent: string | null): boolean =>
  mute.kind === kind && mute.agent === agent

async function read(meta: MetaStore, nowMs: number): Promise<AlertHandling> {
  const stored = parseStored<AlertHandling>(
    (await meta.get(key)) ?? '{"mutes":[],"routes":[]}',
    `meta.${key}`,
  )
  return { ...stored, mutes: stored.mutes.filter(({ until }) => Date.parse(until) > nowMs) }
}

export const showAlertHandling = ({ storage, clock }: Deps): Promise<AlertHandling> =>
  read(storage.meta, clock.wall())

/** Names of the targets that an alert goes to now: none while it is muted, null for all that take alerts. */
export async function targetsOf(
  meta: MetaStore,
  { kind, source }: Pick<StoredAlert, 'kind' | 'source'>,
  nowMs: number,
): Promise<readonly string[] | null> {
  const { mutes, routes } = await read(meta, nowMs)
  const agent = source.startsWith('agent:') ? source.slice('agent:'.length) : null
  if (mutes.some((mute) => isFor(mute, kind, null) || (agent !== null && isFor(mute, kind, agent))))
    return []
  return routes.find((route) => route.kind === kind)?.targets ?? null
}

const change = (
  op: Op,
  { auditLog, clock }: Deps,
  { act, facts }: { readonly act: string; readonly facts: Readonly<Record<string, unknown>> },
  next: (handling: AlertHandling) => AlertHandling,
): Promise<AlertHandling> =>
  auditLog.transaction(async (tx) => {
    const handling = next(await read(tx.meta, clock.wall()))
    await tx.meta.set(key, JSON.stringify(handling))
    tx.append(actDraft(op, act, { arguments: facts }))
    return handling
  })

export async function muteAlerts(op: Op, deps: Deps, input: MuteAlerts): Promise<AlertHandling> {
  const { kind, agent = null, seconds, reason } = input
  const nowMs = deps.clock.wall()
  const mute: AlertMute = {
    kind,
    agent,
    until: new Date(nowMs + seconds * 1_000).toISOString(),
    reason,
    muted_by: actorText(op.actor),
    muted_at: new Date(nowMs).toISOString(),
  }
  return change(op, deps, { act: 'alerts.muted', facts: input }, ({ mutes, routes }) => ({
    routes,
    mutes: [...mutes.filter((one) => !isFor(one, kind, agent)), mute],
  }))
}

export function unmuteAlerts(op: Op, deps: Deps, input: UnmuteAlerts): Promise<AlertHandling> {
  const { kind, agent } = input
  return change(op, deps, { act: 'alerts.unmuted', facts: input }, ({ mutes, routes }) => ({
    routes,
    mutes: mutes.filter((one) => !isFor(one, kind, agent ?? null)),
  }))
}

export async function routeAlerts(
  op: Op,
  deps: Deps,
  { kind, targets }: RouteAlerts,
): Promise<AlertHandling> {
  for (const name of targets ?? []) {
    const target = deps.notifier.targets.find((one) => one.name === name)
    if (!target) throw new GatehouseError('NotificationTargetNotFound', { name })
    if (!target.events.includes('alert.raised'))
      throw new GatehouseError('Conflict', {
        detail: `${name} takes no alerts: add alert.raised to its events in gatehouse.yaml`,
      })
  }
  return change(op, deps, { act: 'alerts.routed', facts: { kind, targets } }, (handling) => {
    const others = handling.routes.filter((route) => route.kind !== kind)
    return { ...handling, routes: targets === null ? others : [...others, { kind, targets }] }
  })
}
