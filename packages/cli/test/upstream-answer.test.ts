import { askQuestion } from '@gatehouse/testkit/installation/ask-question'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const line = ['upstream', 'answer', seeded.question]

/** A command line, and a server that asks. */
const asking = async () => {
  const kit = createCliKit()
  await askQuestion((await kit.open()).kit)
  return { kit, told: () => kit.sentTo('answerQuestion') }
}

test('a question is shown with everything of it before it is answered', async () => {
  const { kit, told } = await asking()
  const input = JSON.stringify({ folder: 'inbox' })
  const { code, out, err } = await kit.gatehouse([...line, '--values', '-'], { input })
  expect([code, out]).toEqual([0, 'notes has the answer, and its call goes on.\n'])
  for (const said of ['Which ones?', 'folder (text, required', 'blue: "Blue"'])
    expect(err).toContain(said)
  expect(told()).toEqual([{ action: 'accept', values: { folder: 'inbox' } }])
})

test('a person is asked for each value, and a secret is typed unseen', async () => {
  const { kit, told } = await asking()
  async function* keys() {
    yield* ['hunter2', '\r']
  }
  const { code, err } = await kit.gatehouse([...line, '--yes'], {
    columns: 80,
    answer: 'inbox',
    keys: keys(),
  })
  // The same is typed for the colour, and refused by the service.
  expect([code, err]).toEqual([2, expect.stringContaining('colour must be one of')])
  expect(err).toContain('password (it is not shown)')
  expect(err).not.toContain('hunter2')
  expect(told()).toMatchObject([{ values: { folder: 'inbox', password: 'hunter2' } }])
})

test('nothing is sent without values, with values that are none, or with two answers', async () => {
  const { kit, told } = await asking()
  const missing = await kit.gatehouse(line)
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--values')])
  const list = await kit.gatehouse([...line, '--values', '-'], { input: '[]' })
  expect([list.code, list.err]).toEqual([2, expect.stringContaining('JSON object')])
  const both = await kit.gatehouse([...line, '--decline', '--cancel'])
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('give one')])
  expect(told()).toEqual([])
  const refused = await kit.gatehouse([...line, '--values', '-'], { input: '{}' })
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('folder is missing')])
})

test('whoever lists approvals hears of it', async () => {
  const { kit } = await asking()
  const { err } = await kit.gatehouse(['approvals', 'list'])
  expect(err).toContain(`notes asks a person: gatehouse upstream answer ${seeded.question}`)
})
