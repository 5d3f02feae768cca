import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CompiledPolicy, PolicyQuestion } from '../domain/policy/types.ts'
import type { PolicySource } from '../ports/policy.ts'
import { openPolicySource, type PolicyRegistry } from './source.ts'

type Offered = ReturnType<PolicyRegistry['list']>[number]

const offered = (
  name: string,
  tier: Offered['tier'],
  argument_names: readonly string[] = [],
  argument_defaults: Offered['argument_defaults'] = {},
): Offered => ({
  ...{ name, tier, notify: false, argument_names, argument_defaults, paths: [], origin: 'own' },
})

const standard = [
  offered('files.read', 'autonomous', ['path']),
  offered('files.delete', 'approval_required', ['path']),
  offered('mail.send', 'approval_required', ['to']),
]
/** A registry whose capabilities come and go. */
const registryOf = (list: readonly Offered[]) => {
  const listeners = new Set<() => void>()
  let now = list
  return {
    list: () => now,
    onChange(listener: () => void) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    become(next: readonly Offered[]) {
      now = next
      for (const listener of listeners) listener()
    },
  }
}
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

const folder = async (files: Readonly<Record<string, string>> = {}): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'policies-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'agents'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return directory
}

const open = async (directory: string, registry: PolicyRegistry = registryOf(standard)) => {
  const source = await openPolicySource({
    directory,
    registry,
    log: quiet,
  })
  onTestFinished(() => source[Symbol.asyncDispose]())
  return source
}

const ask = (capability: string, agent = 'ana'): PolicyQuestion => ({
  capability,
  agent: { name: agent, purpose: '', status: 'active' },
  session: { id: '', transport: '', client: '' },
  args: {},
  nowMs: 0,
})
const kind = (source: PolicySource, capability: string, agent?: string) =>
  source.current().decide(ask(capability, agent)).kind

const nextChange = (source: PolicySource): Promise<CompiledPolicy> =>
  new Promise((resolve) => {
    const subscription = source.onChange((policy) => {
      subscription[Symbol.dispose]()
      resolve(policy)
    })
  })

const rules = (...lines: readonly string[]) =>
  `version: 1\nrules:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`
const blockReads = rules('match: files.read, tier: blocked, reason: not today')
const errors = (source: PolicySource) =>
  source.problems().filter(({ severity }) => severity === 'error')

test('holds by the system layer alone when there are no files', async () => {
  const source = await open(join(await folder(), 'not-made-yet'))
  expect([kind(source, 'files.read'), kind(source, 'mail.send'), kind(source, 'x.y')]).toEqual([
    'allow',
    'ask',
    'deny',
  ])
  expect(source.problems()).toEqual([])
  const [file] = source.files()
  const { rule } = source.current().decide(ask('mail.send'))
  expect(file?.text.split('\n')[(rule?.line ?? 0) - 1]).toContain('mail.send')
})

test('puts the layers on top of each other', async () => {
  const source = await open(
    await folder({
      'organisation.yaml': rules(
        'match: files.delete, tier: blocked, floor: true',
        'match: mail.send, tier: autonomous',
      ),
      'agents/ana.yaml': rules('match: "*", tier: autonomous'),
    }),
  )
  expect([kind(source, 'files.delete'), kind(source, 'mail.send')]).toEqual(['deny', 'allow'])
  expect(kind(source, 'mail.other', 'ana')).toBe('allow')
  expect(kind(source, 'mail.other', 'ben')).toBe('deny')
  const rule = { layer: 'organisation', file: 'organisation.yaml', line: 3, match: 'files.delete' }
  expect(source.current().decide(ask('files.delete')).rule).toEqual(rule)
})

test('takes a change of a file within a second, and a removal too', async () => {
  const directory = await folder()
  const source = await open(directory)
  const file = join(directory, 'organisation.yaml')
  const took = async (change: Promise<void>): Promise<number> => {
    const [changed, started] = [nextChange(source), performance.now()]
    await change
    await changed
    return performance.now() - started
  }
  // The best of some: what waits for a look now and then waits each time, and a busy machine does not.
  const written: number[] = []
  const removed: number[] = []
  const isQuick = () => Math.min(...written) < 1_000 && Math.min(...removed) < 1_000
  for (let turn = 0; turn < 3 || (turn < 20 && !isQuick()); turn += 1) {
    written.push(await took(writeFile(file, blockReads)))
    expect(kind(source, 'files.read')).toBe('deny')
    removed.push(await took(rm(file)))
    expect(kind(source, 'files.read')).toBe('allow')
  }
  expect(Math.min(...written)).toBeLessThan(1_000)
  expect(Math.min(...removed)).toBeLessThan(1_000)
})

test('sees a file that another one is renamed onto, as editors and tools do it', async () => {
  const directory = await folder({ 'organisation.yaml': rules('match: mail.send, tier: blocked') })
  const source = await open(directory)
  const changed = nextChange(source)
  await writeFile(join(directory, '.organisation.yaml.swp'), blockReads)
  await rename(join(directory, '.organisation.yaml.swp'), join(directory, 'organisation.yaml'))
  await changed
  expect(kind(source, 'files.read')).toBe('deny')
})

test.each([
  ['empty', ''],
  ['cut off', blockReads.slice(0, -20)],
  ['of an unknown tier', rules('match: files.read, tier: allow-all')],
  [
    'with a failing test',
    `${blockReads}tests:\n  - { capability: files.read, expect: autonomous }\n`,
  ],
  ['not text', '\u0000\u0001'],
])('keeps the last good policy when a file becomes %s', async (_, text) => {
  const directory = await folder({ 'organisation.yaml': blockReads })
  const source = await open(directory)
  const { version } = source.current()
  await writeFile(join(directory, 'organisation.yaml'), text)
  await source.reload()
  expect(kind(source, 'files.read')).toBe('deny')
  expect(source.current().version).toBe(version)
  expect(errors(source)[0]?.message).toContain('The previous version stays active.')
  await writeFile(join(directory, 'organisation.yaml'), rules('match: mail.send, tier: blocked'))
  await source.reload()
  expect(errors(source)).toEqual([])
  expect([kind(source, 'files.read'), kind(source, 'mail.send')]).toEqual(['allow', 'deny'])
})

test('denies everything when it starts with a bad file and knows no good one', async () => {
  const directory = await folder({ 'organisation.yaml': 'version: 1\nrules: [\n' })
  const source = await open(directory)
  const decision = source.current().decide(ask('files.read'))
  expect(decision).toMatchObject({ kind: 'deny', rule: { file: 'organisation.yaml' } })
  expect(decision.reason).toContain('organisation.yaml is not valid')
  const { args: _, ...asked } = ask('files.read')
  expect(source.current().listed(asked)).toBe('blocked')
  expect(errors(source)[0]?.message).toContain('Every call is denied.')
  await source.reload()
  expect(kind(source, 'files.read')).toBe('deny')
  await writeFile(join(directory, 'organisation.yaml'), rules('match: mail.send, tier: blocked'))
  await source.reload()
  expect([kind(source, 'files.read'), errors(source)]).toEqual(['allow', []])
})

test('denies one agent everything when the bad file is its own', async () => {
  const source = await open(await folder({ 'agents/ana.yaml': '\t' }))
  expect([kind(source, 'files.read', 'ana'), kind(source, 'files.read', 'ben')]).toEqual([
    'deny',
    'allow',
  ])
  expect(errors(source)[0]).toMatchObject({ file: 'agents/ana.yaml', line: 1 })
  expect(errors(source)[0]?.message).toContain('Every call of ana is denied.')
})

test('starts with the last good version of a file that went bad while it was down', async () => {
  const directory = await folder({ 'organisation.yaml': blockReads })
  const first = await open(directory)
  await first[Symbol.asyncDispose]()
  await writeFile(join(directory, 'organisation.yaml'), 'version: 1\nrul')
  const second = await open(directory)
  expect(second.current().decide(ask('files.read')).reason).toBe('not today')
  expect(errors(second)[0]?.message).toContain('The previous version stays active.')
  const kept = join(directory, '.last-good', 'organisation.yaml')
  expect(await readFile(kept, 'utf8')).toBe(blockReads)
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  await rm(join(directory, 'organisation.yaml'))
  await second.reload()
  expect(await readdir(join(directory, '.last-good'))).not.toContain('organisation.yaml')
})

test('writes a kept copy anew only where its file has changed', async () => {
  const directory = await folder({
    'organisation.yaml': blockReads,
    'agents/ana.yaml': rules('match: mail.send, tier: autonomous'),
  })
  const kept = join(directory, '.last-good')
  // A copy is written whole: a new one is another file.
  const files = async () =>
    Promise.all(
      ['organisation.yaml', 'agents/ana.yaml'].map(
        async (name) => (await stat(join(kept, name))).ino,
      ),
    )
  const first = await open(directory)
  const [organisation, agent] = await files()
  await writeFile(join(directory, 'agents/ana.yaml'), rules('match: mail.send, tier: blocked'))
  await first.reload()
  const [same, other] = await files()
  expect(same).toBe(organisation)
  expect(other).not.toBe(agent)
  await first[Symbol.asyncDispose]()
  const second = await open(directory)
  await second.reload()
  expect(await files()).toEqual([same, other])
})

test('refuses a file by its own tests alone, and takes the others of the same change', async () => {
  const directory = await folder()
  const source = await open(directory)
  const failing = `${rules('match: files.read, tier: blocked')}tests:
  - { capability: files.read, expect: approval_required }
`
  await writeFile(join(directory, 'organisation.yaml'), failing)
  await writeFile(join(directory, 'agents/ana.yaml'), rules('match: mail.send, tier: blocked'))
  await source.reload()
  expect([kind(source, 'files.read'), kind(source, 'mail.send')]).toEqual(['allow', 'deny'])
  expect(errors(source)).toMatchObject([{ file: 'organisation.yaml', line: 5, column: 5 }])
  expect(errors(source)[0]?.message).toContain('is blocked by organisation.yaml:3, files.read')
})

test('runs tests by the whole policy, at the time and for the agent that they name', async () => {
  const text = `version: 1
rules:
  - { match: mail.send, when: 'now.getHours() < 8 || agent.name == "ben"', tier: blocked }
tests:
  - { capability: mail.send, expect: approval_required }
  - { capability: mail.send, at: "2026-01-01T07:59:59Z", expect: blocked }
  - { capability: mail.send, agent: ben, expect: blocked }
  - { capability: files.read, args: { path: a }, expect: autonomous }
`
  expect(errors(await open(await folder({ 'organisation.yaml': text })))).toEqual([])
})

test('stores a good text whole, and no bad one', async () => {
  const directory = await folder()
  const source = await open(directory)
  const bad = await source.save({ text: 'version: 1\nrules: [', agent: 'ana' })
  expect(bad.problems[0]).toMatchObject({ severity: 'error', file: 'agents/ana.yaml' })
  expect(await readdir(join(directory, 'agents'))).toEqual([])
  const { version, problems } = await source.save({ text: blockReads, agent: 'ana' })
  expect(problems).toEqual([])
  expect(version).toBe(source.current().version)
  expect(await readdir(join(directory, 'agents'))).toEqual(['ana.yaml'])
  expect([kind(source, 'files.read', 'ana'), kind(source, 'files.read', 'ben')]).toEqual([
    'deny',
    'allow',
  ])
  expect(source.files().map(({ file }) => file)).toEqual(['system.yaml', 'agents/ana.yaml'])
})

test('tells the rules that decide, also while the text on the disk has an error', async () => {
  const directory = await folder({
    'organisation.yaml': rules(
      'match: files.read, tier: approval_required, when: agent.name == "ben", reason: Look, critical: true',
    ),
  })
  const source = await open(directory)
  const told = () => source.files().find(({ file }) => file === 'organisation.yaml')?.active_rules
  const asked = {
    ...{ line: 3, match: 'files.read', tier: 'approval_required', when: 'agent.name == "ben"' },
    ...{ notify: false, reason: 'Look', floor: false, critical: true, network: [] },
  }
  expect(told()).toEqual([asked])
  await writeFile(join(directory, 'organisation.yaml'), rules('match: files.read, tier: blokced'))
  await source.reload()
  expect(errors(source)).toHaveLength(1)
  expect(told()).toEqual([asked])
  expect(source.files()[0]?.active_rules.map(({ match }) => match)).toContain('mail.send')
})

test('lets no name of an agent lead out of the folder', async () => {
  const source = await open(await folder())
  for (const agent of ['../organisation', '../../x', 'shared', '', 'A', 'a/b']) {
    await expect(source.save({ text: blockReads, agent })).rejects.toThrow('no agent')
  }
})

test('checks a text without touching the active policy', async () => {
  const source = await open(
    await folder({ 'organisation.yaml': rules('match: "mail.*", tier: blocked, floor: true') }),
  )
  const { version } = source.current()
  const { problems, rules: count } = source.validate({
    file: 'draft.yaml',
    agent: 'ana',
    text: rules('match: mail.send, tier: autonomous', 'match: files.read, tier: blocked'),
  })
  expect(count).toBe(2)
  expect(problems.map((p) => [p.file, p.line, p.severity])).toEqual([['draft.yaml', 3, 'warning']])
  expect(problems[0]?.message).toContain('overridden by the floor mail.* in organisation.yaml:3')
  expect(source.current().version).toBe(version)
})

test('counts the rules and passed tests of the files, without those that ship', async () => {
  const text = (expect: string) =>
    `${rules('match: mail.send, tier: blocked', 'match: files.read, tier: blocked').trimEnd()}
tests:
  - { capability: mail.send, expect: blocked }
  - { capability: files.read, expect: ${expect} }
`
  const source = await open(await folder({ 'organisation.yaml': text('blocked') }))
  expect(source.countActive()).toEqual({ rules: 2, testsPassed: 2 })
  await source.save({ text: blockReads, agent: 'ana' })
  expect(source.countActive()).toEqual({ rules: 3, testsPassed: 2 })
  const draft = (expect: string) =>
    source.validate({ file: 'draft.yaml', agent: 'ben', text: text(expect) })
  expect(draft('blocked')).toMatchObject({ rules: 2, testsPassed: 2 })
  expect(draft('autonomous')).toMatchObject({
    rules: 0,
    testsPassed: 0,
    problems: [{ severity: 'error', line: 7 }],
  })
  // Refused over a good version: nothing of the text counts, and what stands still does.
  expect(source.validate({ file: 'x.yaml', text: 'version: 2' })).toMatchObject({ rules: 0 })
  expect((await open(await folder({}))).countActive()).toEqual({ rules: 0, testsPassed: 0 })
})

test('says which files it does not read', async () => {
  const source = await open(await folder({ 'organisation.yml': '', 'agents/Ana.yaml': '' }))
  expect(source.problems().map(({ file, severity }) => [file, severity])).toEqual([
    ['organisation.yml', 'warning'],
    ['agents/Ana.yaml', 'warning'],
  ])
})

test('names a version by what the files say, the same after a restart', async () => {
  const directory = await folder({ 'organisation.yaml': blockReads })
  const first = await open(directory)
  const second = await open(directory)
  expect(first.current().version).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(second.current().version).toBe(first.current().version)
})

test('keeps the text that a saved one replaces, and none where nothing is replaced', async () => {
  const directory = await folder({ 'organisation.yaml': blockReads })
  const source = await open(directory)
  const text = rules('match: mail.send, tier: blocked')
  const { previous } = await source.save({ text })
  expect(previous).toBe(join('.previous', 'organisation.yaml'))
  const kept = join(directory, String(previous))
  expect(await readFile(kept, 'utf8')).toBe(blockReads)
  expect((await stat(kept)).mode & 0o777).toBe(0o600)
  expect((await source.save({ text })).previous).toBeNull()
  expect((await source.save({ text: 'version: 2\n' })).previous).toBeNull()
  expect((await source.save({ text, agent: 'ana' })).previous).toBeNull()
  expect(await readFile(kept, 'utf8')).toBe(blockReads)
  await source.save({ text: await readFile(kept, 'utf8') })
  expect([kind(source, 'files.read'), errors(source)]).toEqual(['deny', []])
})

test('capabilities that come while it runs are held to the tier they came with, and rules may speak of them', async () => {
  const registry = registryOf(standard)
  const speaks = rules('match: tickets.close, tier: blocked')
  const directory = await folder({ 'organisation.yaml': speaks })
  const source = await open(directory, registry)
  expect(source.problems()).toMatchObject([
    {
      severity: 'warning',
      message: expect.stringContaining('nothing is called tickets.close yet'),
    },
  ])
  const before = source.current().version
  registry.become([
    ...standard,
    offered('tickets.close', 'approval_required', ['id']),
    offered('tickets.list', 'autonomous'),
  ])
  expect(source.problems()).toEqual([])
  expect(source.current().version).not.toBe(before)
  expect(kind(source, 'tickets.close')).toBe('deny')
  expect(kind(source, 'tickets.list')).toBe('allow')
})

test('a rule about a capability that is gone stays active and is warned of', async () => {
  const tickets = offered('tickets.close', 'autonomous', ['id'])
  const registry = registryOf([...standard, tickets])
  const text = rules('match: tickets.close, tier: blocked', 'match: files.read, tier: blocked')
  const source = await open(await folder({ 'organisation.yaml': text }), registry)
  expect(source.problems()).toEqual([])
  registry.become(standard)
  expect(source.problems()).toMatchObject([
    { severity: 'warning', line: 3, message: expect.stringContaining('tickets.close') as string },
  ])
  expect(kind(source, 'files.read')).toBe('deny')
  expect(kind(source, 'tickets.close')).toBe('deny')
  registry.become([...standard, tickets])
  expect(source.problems()).toEqual([])
  expect(kind(source, 'tickets.close')).toBe('deny')
})

test('capabilities that come while the policy is being opened are not missed', async () => {
  const registry = registryOf(standard)
  const opening = open(await folder(), registry)
  registry.become([...standard, offered('tickets.list', 'autonomous')])
  expect(kind(await opening, 'tickets.list')).toBe('allow')
})
