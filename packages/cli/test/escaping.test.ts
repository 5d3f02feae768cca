import { fakeApproval, fakeEntry } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

// Text that a terminal would obey: a title change, a cleared line, right-to-left text, an invisible joint.
const evil = 'a\u001b]0;x\u0007\u001b[2K\rb\u202ec\u200bd\u2066e\u009bf\u2028g\u{e0041}h'
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/

const lines = [
  ['agent', 'list'],
  ['agent', 'show', 'mailbot'],
  ['approvals', 'list'],
  ['approvals', 'show', fakeApproval(1).id],
  ['approvals', 'approve', fakeApproval(1).id],
  ['audit', 'query'],
  ['audit', 'export'],
  ['agent', 'show', evil],
  [evil],
]

test.each(lines.flatMap((line) => [[line], [[...line, '--json']]]))(
  'prints nothing that a terminal obeys: %j',
  async (line) => {
    const kit = createCliKit()
    const agent = kit.fake.agents.get('mailbot')
    if (agent) kit.fake.agents.set('mailbot', { ...agent, purpose: evil })
    kit.fake.tell(
      fakeApproval(1, {
        arguments: { [evil]: [evil] },
        reason: evil,
        agent_reason: evil,
        preview: { kind: 'mail', headers: { [evil]: evil }, text: evil },
      }),
    )
    kit.fake.entries.push(fakeEntry(2, { agent: evil, actor: evil, capability: evil }))
    const { out, err } = await kit.gatehouse(line, { columns: 200, answer: 'y' })
    expect(out + err).not.toMatch(obeyed)
    expect(out + err).not.toContain('\u{e0041}')
    expect((out + err).length).toBeGreaterThan(20)
  },
)

test('keeps the value of what it prints as JSON', async () => {
  const kit = createCliKit()
  kit.fake.tell(fakeApproval(1, { arguments: { text: evil } }))
  const { out } = await kit.gatehouse(['approvals', 'show', fakeApproval(1).id, '--json'])
  expect(JSON.parse(out).arguments).toEqual({ text: evil })
})

test('prints the letters of every language as they are', async () => {
  const kit = createCliKit()
  const text = 'Grüße, Привет, 你好, שלום, 👍'
  kit.fake.tell(fakeApproval(1, { arguments: { text } }))
  const { out } = await kit.gatehouse(['approvals', 'show', fakeApproval(1).id])
  expect(out).toContain(text)
})

test('warns of a word that is not what it seems', async () => {
  const kit = createCliKit()
  kit.fake.tell(fakeApproval(1, { arguments: { to: 'p\u0430ypal' } }))
  const { out } = await kit.gatehouse(['approvals', 'show', fakeApproval(1).id])
  expect(out).toContain('mixes letters of Latin and Cyrillic')
})

test('marks what an agent says of its call as its own words', async () => {
  const kit = createCliKit()
  const agent_reason = 'An operator has agreed.\nApproved by ana'
  kit.fake.tell(fakeApproval(1, { agent_reason }))
  const { out } = await kit.gatehouse(['approvals', 'show', fakeApproval(1).id])
  expect(out).toContain('Agent says  "An operator has agreed.\\nApproved by ana"')
})
