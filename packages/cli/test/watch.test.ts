import { GatehouseError } from '@gatehouse/contract'
import { createFakeApp, type FakeApp, fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

/** Text written so far, and a wait for a text on it. */
function watchScreen() {
  let all = ''
  return {
    write: (text: string) => void (all += text),
    shows: (text: string) => expect.poll(() => all, { timeout: 20_000 }).toContain(text),
  }
}

test('prints one JSON line for each approval as it comes', async () => {
  const kit = createCliKit()
  kit.fake.tell(fakeApproval(1))
  const ended = new AbortController()
  const running = kit.gatehouse(['approvals', 'watch', '--json'], { signal: ended.signal })
  await expect.poll(() => kit.fake.listeners()).toBe(1)
  kit.fake.tell(fakeApproval(2))
  await expect
    .poll(() => kit.fake.calls.filter((call) => call === 'authenticateUser').length)
    .toBe(3)
  ended.abort()
  const { code, out } = await running
  expect(code).toBe(0)
  const ids = out.trimEnd().split('\n')
  expect(ids.map((line) => JSON.parse(line).id)).toEqual([fakeApproval(1).id, fakeApproval(2).id])
  expect(kit.fake.listeners()).toBe(0)
})

test('says what each event is about, and which approval it belongs to', async () => {
  const kit = createCliKit()
  const ended = new AbortController()
  let all = ''
  const running = kit.gatehouse(['watch', '--after', 'main:0'], {
    signal: ended.signal,
    onWrite(text) {
      all += text
    },
  })
  await expect.poll(() => all).toContain('mailbot filesystem.read notes.txt success')
  ended.abort()
  expect((await running).code).toBe(0)
})

test('decides by keys what is on the screen', async () => {
  const kit = createCliKit()
  kit.fake.tell(fakeApproval(1))
  kit.fake.tell(fakeApproval(2, { requested_at: '2026-03-01T12:00:01.000Z' }))
  const statusOf = (n: number) => kit.fake.approvals.get(fakeApproval(n).id)?.status
  const clock = { nowMs: 0 }
  const screen = watchScreen()
  const after = async (ms: number, text: string) => {
    clock.nowMs += ms
    return { text, atMs: clock.nowMs }
  }
  async function* keys() {
    await screen.shows(`Approval    ${fakeApproval(1).id}`)
    yield after(100, 'r')
    yield after(1_000, 'r')
    for (const letter of 'ask ana') yield after(100, letter)
    // A reason that begins like a decision decides nothing, however long it is left alone.
    yield after(60_000, 'a')
    expect([statusOf(1), statusOf(2)]).toEqual(['pending', 'pending'])
    yield after(100, '\r')
    // Typed ahead, while the answer is on its way and before the next card is there.
    yield { text: 'a', atMs: clock.nowMs }
    await screen.shows(`Approval    ${fakeApproval(2).id}`)
    yield { text: 'a', atMs: clock.nowMs + 1 }
    yield after(1_000, 'a')
    yield after(100, '\r')
    await screen.shows('ran and succeeded')
    yield after(1_000, 'q')
  }
  const { code, out, err } = await kit.gatehouse(['approvals', 'watch'], {
    columns: 80,
    keys: keys(),
    nowMs: () => clock.nowMs,
    onWrite: screen.write,
  })
  expect(code).toBe(0)
  expect(out).toContain('[a] approve  [r] reject')
  expect(err).toContain('Not taken')
  expect(kit.fake.approvals.get(fakeApproval(1).id)).toMatchObject({
    status: 'rejected',
    decision_reason: 'ask anaa',
  })
  expect(kit.fake.approvals.get(fakeApproval(2).id)).toMatchObject({
    status: 'approved',
    decided_by: 'user:the operator',
  })
  expect(err).toContain(
    `${fakeApproval(1).id} (email.send to ana@example.com) is rejected by user:the operator.`,
  )
  expect(err).toContain('email.send to ana@example.com ran and succeeded.')
})

test('shows a request that is refused as stale again, as it stands', async () => {
  const stale = 'notes.txt has changed since it was asked for'
  const fake: FakeApp = createFakeApp({
    async decideApproval(_op, { approval_id }) {
      fake.approvals.set(approval_id, fakeApproval(1, { stale }))
      throw new GatehouseError('ApprovalStale', { approval_id, detail: stale })
    },
  })
  const kit = createCliKit(fake)
  fake.tell(fakeApproval(1))
  const clock = { nowMs: 0 }
  const screen = watchScreen()
  async function* keys() {
    await screen.shows(`Approval    ${fakeApproval(1).id}`)
    yield { text: 'a', atMs: (clock.nowMs += 1_000) }
    yield { text: '\r', atMs: clock.nowMs }
    await screen.shows(`Stale       ${stale}; it cannot be approved`)
    yield { text: 'q', atMs: (clock.nowMs += 1_000) }
  }
  const { code, err } = await kit.gatehouse(['approvals', 'watch'], {
    columns: 200,
    keys: keys(),
    nowMs: () => clock.nowMs,
    onWrite: screen.write,
  })
  expect(code).toBe(0)
  expect(err).toContain(`is stale: ${stale}`)
})
