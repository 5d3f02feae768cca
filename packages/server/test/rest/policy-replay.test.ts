import type { PolicyReplayLine } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { openRestKit } from './kit.ts'

type Result = Extract<PolicyReplayLine, { kind: 'result' }>

const rules = (...lines: readonly string[]) =>
  `version: 1\nrules:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`

const openKit = async (options: KitOptions = {}): Promise<Kit> => {
  const kit = await createKit(options)
  for (const name of ['alpha', 'beta']) await kit.agent(name)
  return kit
}

const linesOf = async (kit: Kit, text: string, days = 7, signal = new AbortController().signal) => {
  const replay = await kit.app.replayPolicy(
    { ...kit.operator(), signal },
    { draft: { text }, days },
  )
  if (replay.kind === 'refused') throw new Error(JSON.stringify(replay.problems))
  return replay.lines
}

const replayed = async (kit: Kit, text: string, days?: number): Promise<Result> => {
  for await (const line of await linesOf(kit, text, days)) if (line.kind === 'result') return line
  throw new Error('there is no result')
}

test('tells per agent which calls of the log a draft would decide otherwise', async () => {
  await using kit = await openKit()
  await kit.invoke('alpha', 'filesystem.write', { path: 'reports/a.txt', content: 'a' })
  await kit.invoke('alpha', 'filesystem.write', { path: 'b.txt', content: 'b' })
  await kit.invoke('alpha', 'filesystem.read', { path: 'b.txt' })
  await kit.invoke('beta', 'filesystem.delete', { path: 'nothing.txt' })
  const result = await replayed(
    kit,
    rules(
      'match: filesystem.write, when: args.path.startsWith("reports/"), tier: autonomous',
      'match: filesystem.write, tier: blocked',
    ),
  )
  expect(result).toMatchObject({ calls: 4, changed: 1, cannot_say: 0 })
  const [alpha, beta] = result.agents
  expect(alpha).toMatchObject({ agent: 'alpha', calls: 3, changed: 1 })
  expect(alpha?.changes).toEqual([
    {
      capability: 'filesystem.write',
      from: 'autonomous',
      to: 'blocked',
      rule: expect.objectContaining({ file: 'organisation.yaml', line: 4 }),
      calls: 1,
      examples: [expect.stringMatching(/^aud-/)],
    },
  ])
  expect(beta).toMatchObject({ agent: 'beta', calls: 1, changed: 0, changes: [] })
})

test('judges a condition on all arguments together wherever the log holds them', async () => {
  await using kit = await openKit()
  for (const recursive of [false, true])
    await kit.invoke('alpha', 'filesystem.delete', { path: 'nothing.txt', recursive })
  const whole = `when: 'args == {"path": "nothing.txt", "recursive": true}'`
  const draft = rules(`match: filesystem.delete, ${whole}, tier: blocked`)
  expect(await replayed(kit, draft)).toMatchObject({ calls: 2, changed: 1, cannot_say: 0 })
})

test('finds nothing changed by the policy that is active', async () => {
  const text = rules('match: "filesystem.*", tier: autonomous')
  await using kit = await openKit({ policy: text })
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'a' })
  expect(await replayed(kit, text)).toMatchObject({ calls: 1, changed: 0 })
})

test('cannot say what hangs on an argument that was cut, and says what does not', async () => {
  await using kit = await openKit()
  const content = 'x'.repeat(10_000)
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content })
  expect(
    await replayed(
      kit,
      rules('match: filesystem.write, when: size(args.content) > 9, tier: blocked'),
    ),
  ).toMatchObject({ calls: 1, changed: 0, cannot_say: 1 })
  expect(
    await replayed(
      kit,
      rules('match: filesystem.write, when: args.path == "a.txt", tier: blocked'),
    ),
  ).toMatchObject({ calls: 1, changed: 1, cannot_say: 0 })
})

test('counts a call that a person approved once', async () => {
  await using kit = await openKit()
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'a' })
  const id = await kit.pending('alpha', 'filesystem.delete', { path: 'a.txt' })
  await kit.decide(id, 'approve')
  await kit.resolved('alpha', id)
  const result = await replayed(kit, rules('match: filesystem.delete, tier: blocked'))
  expect(result).toMatchObject({ calls: 2, changed: 1 })
})

test('looks no further back than was asked', async () => {
  await using kit = await openKit()
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'a' })
  kit.clock.move(3 * 86_400_000)
  const text = rules('match: filesystem.write, tier: blocked')
  expect(await replayed(kit, text, 2)).toMatchObject({ calls: 0, changed: 0 })
  expect(await replayed(kit, text, 4)).toMatchObject({ calls: 1, changed: 1 })
})

test('runs two at a time, and makes place when somebody stops reading', async () => {
  await using kit = await openKit()
  const text = 'version: 1\nrules: []\n'
  const open = async () => {
    const lines = (await linesOf(kit, text))[Symbol.asyncIterator]()
    await lines.next()
    return lines
  }
  const [first, second] = [await open(), await open()]
  await expect(open()).rejects.toMatchObject({ type: 'Conflict' })
  await first.return?.()
  const third = await open()
  for (const lines of [second, third]) await lines.return?.()
})

test('ends with its caller', async () => {
  await using kit = await openKit()
  const gone = new AbortController()
  gone.abort()
  const lines: PolicyReplayLine[] = []
  for await (const line of await linesOf(kit, 'version: 1\nrules: []\n', 7, gone.signal))
    lines.push(line)
  expect(lines).toEqual([])
})

test('answers with lines of progress and the result, and refuses a draft that is not valid', async () => {
  await using kit = await openRestKit()
  const replay = (text: string) =>
    kit.call('POST', '/api/policies/replay', {
      role: 'viewer',
      body: { draft: { text }, days: 90 },
    })
  const { status, body } = await replay('version: 1\nrules: []\n')
  const lines = String(body['text']).trim().split('\n')
  const kinds = lines.map((line) => (JSON.parse(line) as PolicyReplayLine).kind)
  expect([status, kinds.at(0), kinds.at(-1)]).toEqual([200, 'progress', 'result'])
  expect(await replay('version: 2\n')).toMatchObject({
    status: 422,
    body: { code: 'PolicyInvalid', errors: [{ pointer: '/draft/text' }] },
  })
})
