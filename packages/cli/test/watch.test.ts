import { fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

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

test('decides by keys what is on the screen', async () => {
  const kit = createCliKit()
  kit.fake.tell(fakeApproval(1))
  async function* keys() {
    // The first press comes right with the card and counts for nothing; later ones do.
    await expect.poll(() => kit.fake.calls).toContain('subscribeApprovals')
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (kit.fake.approvals.get(fakeApproval(1).id)?.status === 'approved') break
      yield 'a'
    }
    yield 'q'
  }
  const { code, out } = await kit.gatehouse(['approvals', 'watch'], { columns: 80, keys: keys() })
  expect(code).toBe(0)
  expect(out).toContain('[a] approve  [r] reject')
  expect(kit.fake.approvals.get(fakeApproval(1).id)?.decided_by).toBe('user:the operator')
})
