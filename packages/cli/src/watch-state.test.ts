import { fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { emptyWatch, onApproval, onKey, onSnapshot, settleMs } from './watch-state.ts'

const one = fakeApproval(1)
const two = fakeApproval(2, { requested_at: '2026-03-01T12:00:01.000Z' })
const start = onSnapshot(emptyWatch, [two, one], 0)

test('shows the oldest first', () => {
  expect(start.show?.id).toBe(one.id)
  expect(start.state.waiting.map(({ id }) => id)).toEqual([one.id, two.id])
})

test('decides what is on the screen, once there was time to read it', () => {
  expect(onKey(start.state, 'a', settleMs).decide).toEqual({ approval: one, decision: 'approve' })
  expect(onKey(start.state, 'r', settleMs).decide).toEqual({ approval: one, decision: 'reject' })
  expect(onKey(start.state, 'A', settleMs).decide).toBeUndefined()
})

test('takes no key that came right with a card', () => {
  const gone = onApproval(
    start.state,
    { ...one, status: 'rejected', decided_by: 'user:ben' },
    5_000,
  )
  expect(gone.say).toContain('rejected by user:ben')
  expect(gone.show?.id).toBe(two.id)
  const early = onKey(gone.state, 'a', 5_000 + settleMs - 1)
  expect(early.decide).toBeUndefined()
  expect(early.say).toContain('press again')
  expect(onKey(early.state, 'a', 5_000 + settleMs).decide?.approval.id).toBe(two.id)
})

test('does not change the card because more comes', () => {
  const three = fakeApproval(3, { requested_at: '2026-03-01T12:00:02.000Z' })
  const step = onApproval(start.state, three, 9_000)
  expect([step.show, step.say, step.state.shownId]).toEqual([undefined, '3 wait now.', one.id])
})

test('shows a card again when what would run is no longer the same', () => {
  const changed = { ...one, digest: `sha256:${'9'.repeat(64)}` }
  const step = onApproval(start.state, changed, 9_000)
  expect(step.show).toEqual(changed)
  expect(onKey(step.state, 'a', 9_001).decide).toBeUndefined()
})

test('goes round with n, and ends with q', () => {
  const next = onKey(start.state, 'n', 1)
  expect(next.show?.id).toBe(two.id)
  expect(onKey(next.state, 'n', 2).show?.id).toBe(one.id)
  expect(onKey(start.state, 'q', 1).end).toBe(true)
})

test('says that nothing waits when the last is decided', () => {
  const first = onApproval(start.state, { ...one, status: 'approved' }, 1)
  const last = onApproval(first.state, { ...two, status: 'approved' }, 2)
  expect(last.say).toContain('Nothing waits')
  expect(onKey(last.state, 'a', 99_999).decide).toBeUndefined()
})
