import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

/** Text written so far, and a wait for a text on it. */
function watchScreen() {
  let all = ''
  return {
    write: (text: string) => void (all += text),
    shows: (text: string) => expect.poll(() => all).toContain(text),
  }
}

test('prints one JSON line for each approval as it comes', async () => {
  const kit = createCliKit()
  const { calls, listeners } = await kit.open()
  const ended = new AbortController()
  let all = ''
  const running = kit.gatehouse(['approvals', 'watch', '--json'], {
    signal: ended.signal,
    onWrite(text) {
      all += text
    },
  })
  // To approvals, and to what servers ask.
  await expect.poll(() => listeners()).toBe(2)
  const second = await kit.ask('Second')
  await expect.poll(() => all).toContain(second)
  expect(calls.filter((call) => call === 'authenticateUser')).toHaveLength(3)
  ended.abort()
  const { code, out } = await running
  expect(code).toBe(0)
  const ids = out.trimEnd().split('\n')
  expect(ids.map((line) => JSON.parse(line).id)).toEqual([seeded.approval, second])
  expect(listeners()).toBe(0)
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
  await expect.poll(() => all).toContain('mailbot filesystem.write notes.txt success')
  ended.abort()
  expect((await running).code).toBe(0)
})

test('decides by keys what is on the screen', async () => {
  const kit = createCliKit()
  const { kit: service } = await kit.open()
  service.clock.move(1_000)
  const second = await kit.ask('Second')
  const statusOf = async (id: string) => (await kit.approval(id)).status
  const clock = { nowMs: 0 }
  const screen = watchScreen()
  const after = async (ms: number, text: string) => {
    clock.nowMs += ms
    return { text, atMs: clock.nowMs }
  }
  async function* keys() {
    await screen.shows(`Approval    ${seeded.approval}`)
    yield after(100, 'r')
    yield after(1_000, 'r')
    for (const letter of 'ask ana') yield after(100, letter)
    // A reason that begins like a decision decides nothing, however long it is left alone.
    yield after(60_000, 'a')
    expect([await statusOf(seeded.approval), await statusOf(second)]).toEqual([
      'pending',
      'pending',
    ])
    yield after(100, '\r')
    // Typed ahead, while the answer is on its way and before the next card is there.
    yield { text: 'a', atMs: clock.nowMs }
    await screen.shows(`Approval    ${second}`)
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
  expect(await kit.approval(seeded.approval)).toMatchObject({
    status: 'rejected',
    decision_reason: 'ask anaa',
  })
  expect(await kit.approval(second)).toMatchObject({
    status: 'approved',
    decided_by: 'user:the operator',
  })
  expect(err).toContain(
    `${seeded.approval} (email.send to ana@example.com) is rejected by user:the operator.`,
  )
  expect(err).toContain('email.send to ana@example.com ran and succeeded.')
})

test('shows a request that is refused as stale again, as it stands', async () => {
  const kit = createCliKit()
  const { kit: service } = await kit.open()
  await service.decide(seeded.approval, 'reject')
  const id = await kit.ask('Notes', { attachments: ['notes.txt'] })
  const clock = { nowMs: 0 }
  const screen = watchScreen()
  async function* keys() {
    await screen.shows(`Approval    ${id}`)
    await service.run('mailbot', 'filesystem.write', { path: 'notes.txt', content: 'others' })
    service.clock.move(1_000)
    yield { text: 'a', atMs: (clock.nowMs += 1_000) }
    yield { text: '\r', atMs: clock.nowMs }
    await screen.shows('Stale       ')
    yield { text: 'q', atMs: (clock.nowMs += 1_000) }
  }
  const { code, err } = await kit.gatehouse(['approvals', 'watch'], {
    columns: 200,
    keys: keys(),
    nowMs: () => clock.nowMs,
    onWrite: screen.write,
  })
  expect(code).toBe(0)
  expect(err).toContain('is stale: ')
})
