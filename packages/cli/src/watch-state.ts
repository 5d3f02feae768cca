import type { Approval } from '@gatehouse/contract'
import { counted } from './counted.ts'
import { type Decision, editLine, type ReasonLine } from './reason-line.ts'
import { decidedText, isFinal, outcomeText } from './run-outcome.ts'

/**
 * State of the watch: pending requests, oldest first, the card on the screen, and the reason that is being typed for it. Pure: events
 * and keys in, what to do out.
 */
export type WatchState = {
  readonly waiting: readonly Approval[]
  readonly shownId: string | null
  /** When the card was on the screen; infinite until it is. */
  readonly shownMs: number
  /** When the last key came, whatever it was. */
  readonly keyMs: number
  readonly line: ReasonLine | null
  /** The decision that is on its way to the server. Keys count for nothing until its answer. */
  readonly deciding: string | null
  /** Last message about each approval, so that nothing is said twice. */
  readonly told: ReadonlyMap<string, string>
  /** Decided here, and not run to its end yet. */
  readonly awaited: ReadonlySet<string>
  /** Sentences that wait until the reason is typed. */
  readonly held: readonly string[]
  /** Whether it was said of this card that a key was dropped. */
  readonly warned: boolean
  /** Whether it was said that nothing waits. */
  readonly idle: boolean
}

export type WatchStep = {
  readonly state: WatchState
  readonly show?: Approval
  readonly say?: readonly string[]
  /** The line to be typed on; null ends it. */
  readonly line?: ReasonLine | null
  readonly decide?: {
    readonly approval: Approval
    readonly decision: Decision
    readonly reason: string
  }
  /** Approvals to ask for, since their events may have been lost. */
  readonly ask?: readonly string[]
  readonly end?: true
}

/**
 * A key counts only on a card that has been on the screen this long, and only this long after the key
 * before it: anything else was typed ahead, pasted, or meant for another card.
 * @SECURITY watch-state.test.ts fails without it.
 */
export const momentMs = 700

export const emptyWatch: WatchState = {
  waiting: [],
  shownId: null,
  shownMs: Number.POSITIVE_INFINITY,
  keyMs: Number.NEGATIVE_INFINITY,
  line: null,
  deciding: null,
  told: new Map(),
  awaited: new Set(),
  held: [],
  warned: false,
  idle: false,
}

const nothingWaits = 'Nothing is waiting for a decision. Ctrl-C ends this.'
const dropped = 'Not taken: the key came with the card, or close to another. Press one key again.'

const shownOf = ({ waiting, shownId }: WatchState): Approval | undefined =>
  waiting.find(({ id }) => id === shownId)

const shows = (state: WatchState, approval: Approval): WatchStep => ({
  state: {
    ...state,
    shownId: approval.id,
    shownMs: Number.POSITIVE_INFINITY,
    warned: false,
    idle: false,
  },
  show: approval,
})

/** Says what is to be said, and shows the oldest where nothing is shown; nothing disturbs a typed line. */
export function present(state: WatchState, sentences: readonly string[] = []): WatchStep {
  const held = [...state.held, ...sentences]
  if (state.line || state.deciding) return { state: { ...state, held } }
  const next = { ...state, held: [] }
  if (shownOf(state)) return { state: next, say: held }
  const [first] = state.waiting
  if (first) return { ...shows(next, first), say: held }
  const say = state.idle ? held : [...held, nothingWaits]
  return { state: { ...next, shownId: null, idle: true }, say }
}

const byAge = (a: Approval, b: Approval): number =>
  a.requested_at.localeCompare(b.requested_at) || a.id.localeCompare(b.id)

/** Takes in the pending requests, at the beginning and after a lost connection. */
export function onSnapshot(state: WatchState, approvals: readonly Approval[]): WatchStep {
  const shown = shownOf(state)
  const same = approvals.some(
    ({ id, digest, stale }) => id === shown?.id && digest === shown.digest && stale === shown.stale,
  )
  const shownId = same ? state.shownId : null
  const step = present({ ...state, waiting: approvals.toSorted(byAge), shownId })
  return { ...step, ask: [...state.awaited] }
}

/** The card is on the screen: from now on the moment counts. */
export const onShown = (state: WatchState, id: string, nowMs: number): WatchState =>
  state.shownId === id ? { ...state, shownMs: nowMs } : state

export function onApproval(state: WatchState, approval: Approval): WatchStep {
  const others = state.waiting.filter(({ id }) => id !== approval.id)
  if (approval.status === 'pending') {
    const waiting = [...others, approval].toSorted(byAge)
    const isNew = others.length === state.waiting.length
    const changed = approval.id === state.shownId && shownOf(state)?.digest !== approval.digest
    const next = { ...state, waiting, ...(changed ? { shownId: null } : {}) }
    return present(
      next,
      isNew && shownOf(state)
        ? [`${counted(waiting.length, 'request is', 'requests are')} waiting now.`]
        : [],
    )
  }
  const awaited = new Set(state.awaited)
  const outcome = isFinal(approval) ? outcomeText(approval) : null
  if (isFinal(approval)) awaited.delete(approval.id)
  const before = state.told.get(approval.id)
  const sentences = [
    ...(before === undefined ? [decidedText(approval)] : []),
    ...(outcome !== null && before !== outcome ? [outcome] : []),
  ]
  const told = new Map(state.told).set(approval.id, outcome ?? before ?? '')
  return present({ ...state, waiting: others, awaited, told }, sentences)
}

/** A decision that was not taken: why, and the record as it stands, where that could be had. */
export type Refused = { readonly refused: string; readonly stands: Approval | null }

/** The answer to a decision: the record as it stands, or why it was not taken. */
export function onAnswer(state: WatchState, id: string, answer: Approval | Refused): WatchStep {
  const next = { ...state, deciding: null }
  if ('refused' in answer) return onRefusal({ ...next, shownId: null }, answer)
  const awaited = new Set(state.awaited).add(id)
  return onApproval({ ...next, awaited }, answer)
}

/** The card comes up anew, as it stands, so that no key counts that was pressed for the one before. */
function onRefusal(state: WatchState, { refused, stands }: Refused): WatchStep {
  if (!stands) return present(state, [refused])
  const before = { ...state, held: [...state.held, refused] }
  if (stands.status !== 'pending') return onApproval(before, stands)
  const others = state.waiting.filter(({ id }) => id !== stands.id)
  const waiting = [...others, stands].toSorted(byAge)
  return { ...shows({ ...before, waiting, held: [] }, stands), say: before.held }
}

const controlC = '\u0003'
const controlD = '\u0004'
const keys: ReadonlySet<string> = new Set(['a', 'r', 'n'])

/** A key, or several that came in one piece, at the time when they came. */
export function onKey(before: WatchState, text: string, atMs: number): WatchStep {
  const state = { ...before, keyMs: atMs }
  if (text.includes(controlC) || text.includes(controlD)) return { state, end: true }
  if (state.line) return onLineKey(state, state.line, text)
  if (state.deciding) return { state }
  if (text === 'q') return { state, end: true }
  const shown = shownOf(state)
  if (!shown) return { state }
  if (text.startsWith('\u001b')) return { state }
  if (atMs - state.shownMs < momentMs || atMs - before.keyMs < momentMs || !keys.has(text))
    return keys.has(text) || text.length > 1 ? warn(state) : { state }
  if (text === 'n') {
    const next = state.waiting[(state.waiting.indexOf(shown) + 1) % state.waiting.length] ?? shown
    return shows(state, next)
  }
  const line: ReasonLine = {
    approval: shown,
    decision: text === 'a' ? 'approve' : 'reject',
    text: '',
  }
  return { state: { ...state, line }, line }
}

const warn = (state: WatchState): WatchStep =>
  state.warned ? { state } : { state: { ...state, warned: true }, say: [dropped] }

/** A key while the reason is typed: only Enter decides, and only what is still as it was shown. */
function onLineKey(state: WatchState, line: ReasonLine, text: string): WatchStep {
  const edited = editLine(line, text)
  if (edited.kind === 'typing') return { state: { ...state, line: edited.line }, line: edited.line }
  const closed = { ...state, line: null }
  if (edited.kind === 'back') {
    const step = present({ ...closed, shownId: null }, ['Nothing was decided.'])
    return { ...step, line: null }
  }
  const { approval, decision } = line
  const now = state.waiting.find(({ id }) => id === approval.id)
  if (now?.digest !== approval.digest) {
    const why = now ? 'has changed' : 'is no longer waiting'
    const step = present({ ...closed, shownId: null }, [
      `${approval.id} ${why}, so nothing was sent.`,
    ])
    return { ...step, line: null }
  }
  return {
    state: { ...closed, deciding: approval.id },
    line: null,
    decide: { approval, decision, reason: edited.reason },
  }
}
