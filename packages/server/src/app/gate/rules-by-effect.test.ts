import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const text = `version: 1
rules:
  - match: { effect: [write, delete], under: "reports/**" }
    tier: autonomous
  - match: { effect: [write, delete] }
    tier: blocked
    reason: Files outside of reports/ stay as they are
`

test('nothing writes outside of the folder that writing is limited to, whatever stands in the path', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const at = (...parts: readonly string[]) => join(kit.workspace('alpha'), ...parts)
  mkdirSync(at('reports', 'old'), { recursive: true })
  mkdirSync(at('other'))
  writeFileSync(at('other', 'kept'), 'x')
  writeFileSync(at('reports', 'a'), 'x')
  symlinkSync(at('other'), at('reports', 'out'))
  await kit.app.savePolicy(kit.operator(), { text })
  const kindOf = async (name: string, args: Record<string, unknown>) =>
    (await kit.invoke('alpha', `filesystem.${name}`, args)).kind

  const written = { path: 'reports/new', content: 'x' }
  expect(await kindOf('write', written)).toBe('succeeded')
  const moved = { source: 'reports/a', destination: 'reports/old/a' }
  expect(await kindOf('move', moved)).toBe('succeeded')
  for (const [name, args] of [
    ['write', { path: 'new', content: 'x' }],
    ['write', { path: 'reports/../new', content: 'x' }],
    ['write', { path: 'reports/out/new', content: 'x' }],
    ['append', { path: 'other/kept', content: 'y' }],
    ['mkdir', { path: 'folder' }],
    ['copy', { source: 'reports/new', destination: 'other/new' }],
    ['copy', { source: 'other/kept', destination: 'reports/kept' }],
    ['move', { source: 'reports/new', destination: 'new' }],
    ['move', { source: 'other/kept', destination: 'reports/kept' }],
    ['delete', { path: 'other/kept' }],
    ['delete', { path: 'reports' }],
  ] as const)
    expect([name, args, await kindOf(name, args)]).toEqual([name, args, 'denied'])
  expect([existsSync(at('other', 'kept')), existsSync(at('other', 'new'))]).toEqual([true, false])
})

test('a trial, a simulation and a listing tell such a rule by its name and its line', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const saved = await kit.app.savePolicy(kit.operator(), { text })
  expect(saved.problems).toEqual([])
  const rule = { file: 'organisation.yaml', line: 5, match: 'write and delete anywhere' }
  const call = { agent: 'alpha', capability: 'filesystem.mkdir', arguments: { path: 'a' } }
  const { decision, steps } = await kit.app.testPolicy(kit.operator(), call)
  expect(decision).toMatchObject({ kind: 'deny', rule })
  const own = steps.filter((step) => step.rule.layer === 'organisation')
  expect(own.map((step) => [step.rule.line, step.rule.match, step.outcome])).toEqual([
    [3, 'write and delete under reports/**', 'condition_false'],
    [5, rule.match, 'matched'],
    [5, rule.match, 'decided'],
  ])
  const simulated = await kit.app.simulatePolicy(kit.operator(), {
    agents: ['alpha'],
    capabilities: ['filesystem.mkdir', 'filesystem.read'],
    trace: false,
  })
  expect(simulated).toMatchObject({
    results: [
      { capability: 'filesystem.mkdir', tier: 'autonomous' },
      { capability: 'filesystem.read', tier: 'autonomous' },
    ],
  })
  const { files, rules } = await kit.app.showPolicy(kit.operator())
  expect(rules).toBe(2)
  expect(files.at(-1)?.active_rules).toMatchObject([
    { line: 3, match: 'write and delete under reports/**', when: null, tier: 'autonomous' },
    { line: 5, match: rule.match, when: null, tier: 'blocked' },
  ])
})
