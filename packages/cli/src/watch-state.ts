import type { Approval } from '@gatehouse/contract'

/**
 * What waits, oldest first, and the one whose card is on the screen. Pure: events and keys in, what to
 * do out.
 */
export type WatchState = {
  readonly waiting: readonly Approval[]
  readonly shownId: string | null
  /** When the card came up. */
  readonly shownMs: number
}

export type WatchStep = {
  readonly state: WatchState
  readonly show?: Approval
  readonly say?: string
  readonly decide?: { readonly approval: Approval; readonly decision: 'approve' | 'reject' }
  readonly end?: true
}

/**
 * A key pressed this soon after a card came up by itself was meant for the card before.
 * @SECURITY watch-state.test.ts fails without it.
 */
export const settleMs = 700

export const emptyWatch: WatchState = { waiting: [], shownId: null, shownMs: 0 }

const shownOf = ({ waiting, shownId }: WatchState): Approval | undefined =>
  waiting.find(({ id }) => id === shownId)

/** Puts the oldest on the screen where nothing is, or where what was has gone. */
function settle(state: WatchState, nowMs: number, say?: string): WatchStep {
  const spoken = say === undefined ? {} : { say }
  if (shownOf(state)) return { state, ...spoken }
  const [next] = state.waiting
  if (!next)
    return {
      state: { ...state, shownId: null },
      say: [say, 'Nothing waits. Ctrl-C ends this.']
        .filter((part) => part !== undefined)
        .join('\n'),
    }
  return { state: { ...state, shownId: next.id, shownMs: nowMs }, show: next, ...spoken }
}

export function onSnapshot(
  state: WatchState,
  approvals: readonly Approval[],
  nowMs: number,
): WatchStep {
  return settle({ ...state, waiting: approvals.toSorted(byAge) }, nowMs)
}

const byAge = (a: Approval, b: Approval): number =>
  a.requested_at.localeCompare(b.requested_at) || a.id.localeCompare(b.id)

export function onApproval(state: WatchState, approval: Approval, nowMs: number): WatchStep {
  const others = state.waiting.filter(({ id }) => id !== approval.id)
  if (approval.status === 'pending') {
    const waiting = [...others, approval].toSorted(byAge)
    const isNew = others.length === state.waiting.length
    const changed = approval.id === state.shownId && shownOf(state)?.digest !== approval.digest
    const next = { ...state, waiting, ...(changed ? { shownId: null } : {}) }
    const say = isNew && shownOf(state) ? `${waiting.length} wait now.` : undefined
    return settle(next, nowMs, say)
  }
  const by = approval.decided_by ? ` by ${approval.decided_by}` : ''
  const say = `${approval.id} is ${approval.status}${by}.`
  return settle({ ...state, waiting: others }, nowMs, say)
}

export function onKey(state: WatchState, key: string, nowMs: number): WatchStep {
  if (key === 'q' || key === '\u0003' || key === '\u0004') return { state, end: true }
  const shown = shownOf(state)
  if (!shown) return { state }
  if (key === 'n') {
    const at = state.waiting.indexOf(shown)
    const next = state.waiting[(at + 1) % state.waiting.length] ?? shown
    return { state: { ...state, shownId: next.id, shownMs: nowMs }, show: next }
  }
  if (key !== 'a' && key !== 'r') return { state }
  if (nowMs - state.shownMs < settleMs)
    return { state, say: 'That came right with the card. Read it, then press again.' }
  const decision = key === 'a' ? 'approve' : 'reject'
  return { state, decide: { approval: shown, decision } }
}
