import { GatehouseError } from '@gatehouse/contract'
import type { ReplicaChange } from '../../../../ports/replica.ts'
import type {
  Capture,
  CaptureRefusal,
  ServiceOperation,
  ServiceWrite,
  UndoOutcome,
  UndoPlan,
  UndoPoint,
  WriteOutcome,
  WriteProof,
  WriteReason,
} from '../../../../ports/service-adapter.ts'
import type { CalendarAccount } from '../calendar-account.ts'
import { DavFailure } from '../dav-client.ts'
import { DavRefusal, describeDav, retryAfterMs } from '../describe-dav.ts'
import { eventEntry, eventOf } from '../event-entry.ts'
import {
  type CalendarObject,
  changeObject,
  type Expected,
  findByUid,
  getObject,
} from '../objects.ts'
import {
  changesSince,
  hrefAfter,
  isObject,
  type PlannedChange,
  plannedChange,
  resultOf,
  type Target,
  targetOf,
} from './planned-change.ts'

const reasonOf = (account: CalendarAccount, error: unknown): WriteReason => {
  if (error instanceof GatehouseError) {
    const { detail } = error.facts
    return { detail: typeof detail === 'string' ? detail : error.message }
  }
  const { detail, fix } = describeDav(account.settings, error)
  return { detail, ...(fix === null ? {} : { fix }) }
}

const notNow = (reason: WriteReason, after_ms: number | null = null): WriteOutcome => ({
  kind: 'not_executed',
  reason,
  retry: { after_ms },
})

/** The server was asked and said no: what that means for what was to be done. */
const outcomeOf = (account: CalendarAccount, error: DavRefusal): WriteOutcome => {
  const reason = reasonOf(account, error)
  const { status, headers } = error.answer
  const after = retryAfterMs(headers['retry-after'], account.connection.clock.wall())
  if (status === 429 || (status === 503 && after !== null)) return notNow(reason, after)
  // A password may be put right; what a server fails at may have happened all the same.
  if (status === 401 || status === 507) return notNow(reason)
  if (status >= 500 || status < 400) return { kind: 'unknown', reason }
  return { kind: 'not_executed', reason, retry: 'never' }
}

/** Changes that the replica shows at once. */
const shownChanges = (
  account: CalendarAccount,
  { calendar }: Target,
  href: string,
  there: CalendarObject | null,
): ReplicaChange[] => {
  const event = there && eventOf(calendar, there, account.zone)
  return event && there
    ? [{ kind: 'put', entry: eventEntry(calendar, event, account.zone, there.ics.length) }]
    : [{ kind: 'remove', key: { collection: calendar, id: href } }]
}

const toExpected = (version: string | null): Expected => (version === null ? 'new' : { version })

/** The object as it lies there now. One that is to be new is looked for by its UID, too. */
const lookNow = async (
  account: CalendarAccount,
  found: Target,
  { before, expected }: PlannedChange,
  signal: AbortSignal,
): Promise<CalendarObject | null> => {
  const there = await getObject(account, expected.href, signal)
  if (there || before.ics !== null) return there
  const href = await findByUid(account, found.calendar, found.uid, signal).catch(
    (error: unknown) => {
      // A server that cannot search keeps things where they are put.
      if (error instanceof DavRefusal && error.answer.status < 500) return null
      throw error
    },
  )
  return href === null ? null : getObject(account, href, signal)
}

type Deed = { readonly did: string }

const execute = async (
  account: CalendarAccount,
  write: ServiceWrite,
  kept: Capture,
  { did }: Deed,
  signal: AbortSignal,
): Promise<WriteOutcome> => {
  const plan = plannedChange(kept)
  const found = targetOf(write)
  const { href, ics } = plan.expected
  let changed: Awaited<ReturnType<typeof changeObject>>
  try {
    const expected = toExpected(plan.before.version)
    changed = await changeObject(account, { href, ics, expected }, signal)
  } catch (error) {
    const reason = reasonOf(account, error)
    return error instanceof DavFailure && error.sent ? { kind: 'unknown', reason } : notNow(reason)
  }
  if (changed.kind === 'refused') return outcomeOf(account, changed.error)
  let there: CalendarObject | null
  try {
    there = await lookNow(account, found, plan, signal)
  } catch (error) {
    // The change is done; what stands there now the next sync shows.
    return changed.kind === 'changed'
      ? { kind: 'executed', result: resultOf(found, null, did) }
      : { kind: 'unknown', reason: reasonOf(account, error) }
  }
  // The object is as it was to be: an earlier attempt arrived.
  if (changed.kind === 'changed' || isObject(account, found, there, ics))
    return {
      kind: 'executed',
      result: resultOf(found, there, did),
      changes: shownChanges(account, found, href, there),
    }
  return {
    kind: 'not_executed',
    reason: {
      detail: there
        ? `"${found.title}" was changed in the last moment: its version is ${there.version} now`
        : `"${found.title}" was deleted in the last moment`,
      fix: 'Read it again with calendar.read, and decide anew.',
    },
    retry: 'never',
  }
}

const prove = async (
  account: CalendarAccount,
  write: ServiceWrite,
  kept: Capture,
  { did }: Deed,
  signal: AbortSignal,
): Promise<WriteProof> => {
  const plan = plannedChange(kept)
  const found = targetOf(write)
  const there = await account.guarded(() => lookNow(account, found, plan, signal))
  if (isObject(account, found, there, plan.expected.ics))
    return { kind: 'executed', result: resultOf(found, there, did) }
  const asBefore = there?.version === plan.before.version
  if (asBefore || isObject(account, found, there, plan.before.ics)) return { kind: 'not_executed' }
  // The UID is of this write alone, so the object can have come from nowhere else.
  if (plan.before.ics === null && there)
    return { kind: 'executed', result: resultOf(found, there, did) }
  return {
    kind: 'unknown',
    reason: { detail: `"${found.title}" is neither as it was nor as it was to be` },
  }
}

type WayBack =
  | Extract<UndoPlan, { readonly kind: 'refused' }>
  | { readonly kind: 'back'; readonly there: CalendarObject | null }
  | { readonly kind: 'there_already' }

const planBack = async (
  account: CalendarAccount,
  point: UndoPoint,
  signal: AbortSignal,
): Promise<WayBack> => {
  const plan = plannedChange(point.capture)
  const found = targetOf(point.write)
  const there = await getObject(account, hrefAfter(point, plan), signal)
  if (isObject(account, found, there, plan.before.ics)) return { kind: 'there_already' }
  const asLeft =
    (there !== null && there.version === point.result?.['version']) ||
    isObject(account, found, there, plan.expected.ics)
  if (asLeft) return { kind: 'back', there }
  return {
    kind: 'refused',
    reason: { detail: `"${found.title}" was changed by others since` },
    differences: changesSince(account, found, there, plan.expected.ics),
  }
}

const stepOf = ({ before, expected }: PlannedChange, title: string): string =>
  before.ics === null
    ? `delete "${title}" again`
    : expected.ics === null
      ? `put "${title}" back, byte for byte as it was`
      : `write "${title}" back, byte for byte as it was`

const undo = async (
  account: CalendarAccount,
  point: UndoPoint,
  signal: AbortSignal,
): Promise<UndoOutcome> => {
  const plan = plannedChange(point.capture)
  const found = targetOf(point.write)
  const href = hrefAfter(point, plan)
  try {
    const way = await planBack(account, point, signal)
    if (way.kind === 'refused') return way
    if (way.kind === 'back') {
      const expected = toExpected(way.there?.version ?? null)
      const changed = await changeObject(account, { href, ics: plan.before.ics, expected }, signal)
      if (changed.kind === 'refused') {
        const reason = reasonOf(account, changed.error)
        const { status } = changed.error.answer
        const forGood = status >= 400 && status < 500 && ![401, 429].includes(status)
        return forGood
          ? { kind: 'refused', reason, differences: [reason.detail] }
          : { kind: 'not_undone', reason }
      }
    }
    const there = await getObject(account, href, signal)
    if (!isObject(account, found, there, plan.before.ics))
      return { kind: 'not_undone', reason: { detail: 'it is not as it was yet' } }
    return {
      kind: 'undone',
      result: { event_id: found.event_id, version: there?.version ?? null },
      changes: shownChanges(account, found, href, there),
    }
  } catch (error) {
    return { kind: 'not_undone', reason: reasonOf(account, error) }
  }
}

type CapturingWrite = (
  account: CalendarAccount,
  write: ServiceWrite,
  signal: AbortSignal,
) => Promise<PlannedChange | CaptureRefusal>

/**
 * One way of changing an object: there is what stood before and what is to stand after, and everything else
 * follows from comparing what is there with these two.
 */
export const changeOperation = (
  {
    name,
    did,
    delay_seconds,
    undo_note,
  }: Deed & Pick<ServiceOperation, 'name' | 'delay_seconds' | 'undo_note'>,
  capture: CapturingWrite,
): ServiceOperation<CalendarAccount> => ({
  name,
  delay_seconds,
  timeout_seconds: 90,
  undoable: true,
  undo_note,
  redact: [],
  capture: (account, write, signal) => account.guarded(() => capture(account, write, signal)),
  execute: (account, write, kept, signal) => execute(account, write, kept, { did }, signal),
  prove: (account, write, kept, signal) => prove(account, write, kept, { did }, signal),
  async planUndo(account, point, signal) {
    const way = await account.guarded(() => planBack(account, point, signal))
    if (way.kind === 'refused') return way
    const plan = plannedChange(point.capture)
    const { title } = targetOf(point.write)
    const steps =
      way.kind === 'back' ? [stepOf(plan, title)] : [`nothing: "${title}" is as it was already`]
    return { kind: 'possible', steps }
  },
  undo,
})
