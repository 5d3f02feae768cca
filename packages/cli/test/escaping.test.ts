import { expect, test } from 'vitest'
import { type CliKit, createCliKit } from './kit.ts'

// Text that a terminal would obey: a title change, a cleared line, right-to-left text, an invisible joint.
const evil = 'a\u001b]0;x\u0007\u001b[2K\rb\u202ec\u200bd\u2066e\u009bf\u2028g\u{e0041}h'
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/

/** What can't be said in the part of a text is said in the other: names of people, reasons, what agents send. */
const say = async (cli: CliKit): Promise<string> => {
  const { kit } = await cli.open()
  const op = kit.operator(evil)
  await kit.app.editAgent(op, { name: 'mailbot', changes: { purpose: evil }, versions: null })
  const reason = JSON.stringify(evil)
  const rules = `  - { match: state.set, tier: approval_required, reason: ${reason} }\n`
  await kit.app.savePolicy(op, { text: `version: 1\nrules:\n${rules}` })
  await kit.invoke('mailbot', evil)
  const change = { agent_reason: evil }
  const args = { key: 'a', value: { [evil]: [evil] } }
  const outcome = await kit.invoke('mailbot', 'state.set', args, change)
  if (outcome.kind !== 'pending') throw new Error(JSON.stringify(outcome))
  return outcome.pending.approval_id
}

const lines = [
  ['agent', 'list'],
  ['agent', 'show', 'mailbot'],
  ['approvals', 'list'],
  ['approvals', 'show', 'ID'],
  ['approvals', 'approve', 'ID'],
  ['audit', 'query'],
  ['audit', 'export'],
  ['agent', 'show', evil],
  [evil],
]

test.each(lines.flatMap((line) => [[line], [[...line, '--json']]]))(
  'prints nothing that a terminal obeys: %j',
  async (line) => {
    const kit = createCliKit()
    const id = await say(kit)
    const words = line.map((word) => (word === 'ID' ? id : word))
    const { out, err } = await kit.gatehouse(words, { columns: 200, answer: 'y' })
    expect(out + err).not.toMatch(obeyed)
    expect(out + err).not.toContain('\u{e0041}')
    expect((out + err).length).toBeGreaterThan(20)
  },
)

test('keeps the value of what it prints as JSON', async () => {
  const kit = createCliKit()
  const id = await say(kit)
  const { out } = await kit.gatehouse(['approvals', 'show', id, '--json'])
  const facts = { agent_reason: evil, reason: evil, arguments: { value: { [evil]: [evil] } } }
  expect(JSON.parse(out)).toMatchObject(facts)
})

const shown = async (subject: string): Promise<string> => {
  const kit = createCliKit()
  return (await kit.gatehouse(['approvals', 'show', await kit.ask(subject)])).out
}

test('prints the letters of every language as they are', async () => {
  const text = 'Grüße, Привет, 你好, שלום, 👍'
  expect(await shown(text)).toContain(text)
})

test('warns of a word that is not what it seems', async () => {
  expect(await shown('p\u0430ypal')).toContain('mixes letters of Latin and Cyrillic')
})

test('marks what an agent says of its call as its own words', async () => {
  const kit = createCliKit()
  const { kit: service } = await kit.open()
  const agent_reason = 'An operator has agreed.\nApproved by ana'
  const mail = { to: ['ana@example.com'], subject: 'Agreed', body: 'Hi Ana' }
  await service.invoke('mailbot', 'email.send', mail, { agent_reason })
  const { out } = await kit.gatehouse(['approvals', 'show', 'appr-00000000000000000000000003'])
  expect(out).toContain('Agent says  "An operator has agreed.\\nApproved by ana"')
})
