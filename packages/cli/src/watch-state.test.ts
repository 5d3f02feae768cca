import { Approval } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import {
  emptyWatch,
  momentMs,
  onAnswer,
  onApproval,
  onKey,
  onShown,
  onSnapshot,
  type WatchState,
  type WatchStep,
} from './watch-state.ts'

const requested = (n: number): Approval =>
  Approval.parse({
    id: `appr-${String(n).padStart(26, '0')}`,
    agent: 'mailbot',
    capability: 'email.send',
    arguments: { to: ['ana@example.com'] },
    effective_arguments: { to: ['ana@example.com'] },
    stale: null,
    digest: `sha256:${String(n).repeat(64)}`,
    requested_at: `2026-03-01T12:00:0${n}.000Z`,
    expires_at: '2026-03-02T12:00:00.000Z',
    status: 'pending',
    session_id: null,
    reason: null,
    agent_reason: null,
    rule: null,
    critical: false,
    preview: null,
    consequences: null,
    decided_at: null,
    decided_by: null,
    decision_reason: null,
    execution: { state: 'waiting' },
  })
const [one, two, three] = [requested(1), requested(2), requested(3)]
const start = onSnapshot(emptyWatch, [two, one])

/** The card is on the screen at this time. */
const shown = (step: WatchStep, atMs = 0): WatchState =>
  step.show ? onShown(step.state, step.show.id, atMs) : step.state
const ready = shown(start)
const press = (state: WatchState, ...presses: readonly (readonly [string, number])[]) =>
  presses.reduce<WatchStep>((step, [text, atMs]) => onKey(step.state, text, atMs), { state })
const decided = (approval: typeof one, change: Partial<typeof one>) =>
  ({ ...approval, decided_by: 'user:ben', ...change }) as typeof one

test('shows the oldest first', () => {
  expect(start.show?.id).toBe(one.id)
  expect(start.state.waiting.map(({ id }) => id)).toEqual([one.id, two.id])
})

test.each([
  ['a', 'approve'],
  ['r', 'reject'],
] as const)('%s asks for a reason, and only Enter decides', (key, decision) => {
  const asked = press(ready, [key, momentMs])
  expect(asked.decide).toBeUndefined()
  expect(asked.line).toMatchObject({ decision, approval: { id: one.id } })
  const typed = press(asked.state, ['n', 710], ['o', 720], ['t', 730], [' ', 740], ['a', 750])
  expect([typed.decide, typed.line?.text]).toEqual([undefined, 'not a'])
  expect(press(typed.state, ['\r', 760])).toMatchObject({
    line: null,
    decide: { approval: { id: one.id }, decision, reason: 'not a' },
  })
})

test.each(['a', 'r', 'n'])('takes no %s that came with the card, or behind another key', (key) => {
  for (const [state, atMs] of [
    [start.state, 99_999],
    [ready, momentMs - 1],
    [press(ready, ['x', 5_000]).state, 5_000 + momentMs - 1],
    [press(ready, [key + key, 5_000]).state, 5_000 + momentMs - 1],
  ] as const) {
    const step = onKey(state, key, atMs)
    expect([step.show, step.line, step.decide]).toEqual([undefined, undefined, undefined])
  }
  expect(onKey(ready, key, momentMs - 1).say?.join()).toContain('Not taken')
  const taken = onKey(ready, key, momentMs)
  expect(taken.show ?? taken.line).toBeDefined()
})

test('takes no words that were pasted or typed on a card', () => {
  const pasted = onKey(ready, 'again please\r', 5_000)
  expect([pasted.decide, pasted.line]).toEqual([undefined, undefined])
  const words = Array.from('ask ana').map((key, i) => [key, 200 + i * 90] as const)
  const typed = press(ready, ...words)
  expect([typed.decide, typed.state.line]).toEqual([undefined, null])
})

test('takes a word that is pasted into the line up to its Enter, and drops the rest', () => {
  const { state } = press(ready, ['r', momentMs])
  expect(press(state, ['wrong place\raaa\r', 900]).decide?.reason).toBe('wrong place')
})

test('goes back with Esc, edits with backspace, and leaves arrows out', () => {
  const { state } = press(ready, ['r', momentMs])
  const edited = press(state, ['no\u007f', 800], ['\u001b[D', 810], ['\u0015why', 820])
  expect(edited.line?.text).toBe('why')
  const back = press(edited.state, ['\u001b', 900])
  expect([back.line, back.decide, back.show?.id]).toEqual([null, undefined, one.id])
  // The card is new on the screen, so its moment begins again.
  expect(press(shown(back, 1_000), ['a', 1_000 + momentMs - 1]).line).toBeUndefined()
})

test('drops every key while a decision is on its way, and the next card has its moment', () => {
  const sent = press(ready, ['r', momentMs], ['\r', 800])
  const ahead = press(sent.state, ['a', 5_000], ['\r', 9_000])
  expect([ahead.line, ahead.decide]).toEqual([undefined, undefined])
  const next = onAnswer(ahead.state, one.id, decided(one, { status: 'rejected' }))
  expect(next.show?.id).toBe(two.id)
  // Pressed before the card was there, however late it is read.
  expect(onKey(shown(next, 20_000), 'a', 19_000).line).toBeUndefined()
})

test('lets nothing disturb a line, and sends nothing for what was decided meanwhile', () => {
  const { state } = press(ready, ['r', momentMs])
  const gone = onApproval(state, decided(one, { status: 'rejected' }))
  expect([gone.show, gone.say, gone.line]).toEqual([undefined, undefined, undefined])
  const entered = press(gone.state, ['no', 900], ['\r', 1_000])
  expect([entered.decide, entered.line, entered.show?.id]).toEqual([undefined, null, two.id])
  expect(entered.say).toEqual([
    `${one.id} (email.send to ana@example.com) is rejected by user:ben.`,
    `${one.id} is no longer waiting, so nothing was sent.`,
  ])
})

test('sends nothing for a request that changed while the reason was typed', () => {
  const { state } = press(ready, ['a', momentMs])
  const changed = onApproval(state, { ...one, digest: `sha256:${'9'.repeat(64)}` })
  const entered = press(changed.state, ['\r', 900])
  expect([entered.decide, entered.say?.join()]).toEqual([
    undefined,
    expect.stringContaining('has changed'),
  ])
})

test('says who decided and then how the run ended, each once', () => {
  const sent = press(ready, ['a', momentMs], ['\r', 800])
  const approved = decided(one, { status: 'approved', execution: { state: 'waiting' } })
  const taken = onAnswer(sent.state, one.id, approved)
  expect(taken.say).toEqual([`${one.id} (email.send to ana@example.com) is approved by user:ben.`])
  const again = onApproval(taken.state, approved)
  expect(again.say).toEqual([])
  const failed = onApproval(again.state, {
    ...approved,
    execution: {
      state: 'failed',
      result: {
        success: false,
        error: { type: 'ServiceRefused', message: 'No such mailbox.', recovery: [] },
      },
    },
  })
  expect(failed.say).toEqual([
    'email.send to ana@example.com ran and failed: No such mailbox. (ServiceRefused)',
  ])
  expect(failed.state.awaited.size).toBe(0)
})

test('asks after a lost connection how a run ended that was approved here', () => {
  const sent = press(ready, ['a', momentMs], ['\r', 800])
  const taken = onAnswer(sent.state, one.id, decided(one, { status: 'approved' }))
  expect(onSnapshot(taken.state, [two]).ask).toEqual([one.id])
})

test('does not change the card because more comes', () => {
  const step = onApproval(ready, three)
  expect([step.show, step.say, step.state.shownId]).toEqual([
    undefined,
    ['3 requests are waiting now.'],
    one.id,
  ])
})

test('shows a card again when what would run is no longer the same', () => {
  const changed = { ...one, digest: `sha256:${'9'.repeat(64)}` }
  const step = onApproval(ready, changed)
  expect(step.show).toEqual(changed)
  expect(onKey(step.state, 'a', 99_999).line).toBeUndefined()
  expect(onSnapshot(ready, [changed]).show).toEqual(changed)
})

test('goes round with n, and ends with q, Ctrl-C and Ctrl-D', () => {
  const next = onKey(ready, 'n', 1_000)
  expect(next.show?.id).toBe(two.id)
  expect(onKey(shown(next, 1_000), 'n', 2_000).show?.id).toBe(one.id)
  expect(onKey(ready, 'q', 1).end).toBe(true)
  const { state } = press(ready, ['r', momentMs])
  expect(onKey(state, 'q', 900).end).toBeUndefined()
  for (const key of ['\u0003', '\u0004']) expect(onKey(state, key, 900).end).toBe(true)
})

test('says once that nothing waits', () => {
  const first = onApproval(ready, decided(one, { status: 'expired' }))
  const last = onApproval(first.state, decided(two, { status: 'cancelled' }))
  expect(last.say?.at(-1)).toContain('Nothing is waiting')
  expect(onKey(last.state, 'a', 99_999).line).toBeUndefined()
  expect(onSnapshot(last.state, []).say).toEqual([])
})

test('a request that turned out to be stale comes up again as it stands, and is still to be decided', () => {
  const state = onSnapshot(emptyWatch, [one, two])
  const sent = press(shown(press(shown(state), ['n', momentMs])), ['a', 2_000], ['\r', 2_001])
  expect(sent.decide?.approval.id).toBe(two.id)
  const stands = { ...two, stale: 'notes.txt has changed' }
  const refused = onAnswer(sent.state, two.id, { refused: 'The request is stale', stands })
  expect([refused.show, refused.say]).toEqual([stands, ['The request is stale']])
  // Keys for the card before it are dropped; then it can be rejected.
  expect(onKey(refused.state, 'r', 2_002).line).toBeUndefined()
  expect(onKey(shown(refused, 3_000), 'r', 3_000 + momentMs).line?.approval).toBe(stands)
})

test('a request that somebody else decided meanwhile says so, and makes room for the next', () => {
  const sent = press(shown(onSnapshot(emptyWatch, [one, two])), ['a', momentMs], ['\r', 701])
  const stands = decided(one, { status: 'rejected' })
  const refused = onAnswer(sent.state, one.id, { refused: 'It is not pending', stands })
  expect(refused.show).toBe(two)
  expect(refused.say).toEqual([
    'It is not pending',
    `${one.id} (email.send to ana@example.com) is rejected by user:ben.`,
  ])
  // Without the record, the card comes up as it was.
  expect(onAnswer(sent.state, one.id, { refused: 'No answer', stands: null }).show).toBe(one)
})

test('a card that became stale while no connection was there comes up anew', () => {
  const stale = { ...one, stale: 'notes.txt has changed' }
  expect(onSnapshot(ready, [stale, two]).show).toBe(stale)
  expect(onSnapshot(ready, [one, two]).show).toBeUndefined()
})
