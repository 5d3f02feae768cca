import { execFileSync } from 'node:child_process'
import { hasProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'
import { assertHarmless, configGuard, lastValue, parseSettings, renderConfig } from './config.ts'

const list = (config: Uint8Array): Buffer =>
  execFileSync('git', ['config', '--file', '-', '--no-includes', '--list', '-z'], {
    input: config,
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
    cwd: '/',
  })

const guard = configGuard([])

test('settings of a plain clone are harmless, what names programs and places is not', () => {
  for (const key of [
    'core.repositoryformatversion',
    'core.filemode',
    'user.name',
    'remote.origin.url',
    'remote.my.odd remote.fetch',
    'branch.feature/x.merge',
    'init.defaultbranch',
  ])
    expect([key, guard(key)]).toEqual([key, true])
  for (const key of [
    'core.fsmonitor',
    'core.worktree',
    'core.bare.x',
    'filter.core.filemode.clean',
    'remote.origin.uploadpack',
    'remote.x.url.vcs',
    'url.remote.x.url.insteadof',
    'include.path',
    'user.x.y',
    'xcore.bare',
    'core.bare\nx',
  ])
    expect([key, guard(key)]).toEqual([key, false])
})

test('an operator may allow more keys, part by part', () => {
  const own = configGuard(['branch.*.rebase', 'pull.rebase'])
  expect(own('branch.main.rebase')).toBe(true)
  expect(own('PULL.rebase')).toBe(true)
  expect(own('branch.main.rebase.x')).toBe(false)
  expect(own('branchXmain.rebase')).toBe(false)
  expect(own('core.fsmonitor')).toBe(false)
})

test('the first key that is not harmless is named', () => {
  const settings = parseSettings(Buffer.from('core.bare\nfalse\0core.fsmonitor\nx\0alias.x\ny\0'))
  expect(() => assertHarmless('/p', settings, guard)).toThrow(/core\.fsmonitor/)
  expect(() => assertHarmless('/p', settings.slice(0, 1), guard)).not.toThrow()
})

test('a value may hold lines, and a key without one means true', () => {
  const settings = parseSettings(Buffer.from('user.name\nA\nB\0core.filemode\0user.name\nC\0'))
  expect(settings).toEqual([
    { key: 'user.name', value: 'A\nB' },
    { key: 'core.filemode', value: null },
    { key: 'user.name', value: 'C' },
  ])
  expect(lastValue(settings, 'user.name')).toBe('C')
  expect(lastValue(settings, 'core.filemode')).toBe(null)
})

const odd = [
  'plain',
  ' spaces around ',
  'quote " and \\ back\\slash',
  'line\nbreak\ttab\bback',
  '# no comment ; here',
  '[section]',
  'ü€\u{1f600}',
  '',
  '!sh -c x',
]

test.skipIf(!hasProgram('git'))(
  'what is written anew is what git had read, value for value',
  () => {
    const settings = [
      ...odd.map((value) => ({ key: 'user.name', value })),
      ...odd
        .filter((value) => !value.includes('\n'))
        .map((sub) => ({ key: `remote.${sub}.url`, value: 'https://git.example/x' })),
      { key: 'core.filemode', value: null },
    ].map(({ key, value }) => ({
      key: Buffer.from(key).toString('latin1'),
      value: value === null ? null : Buffer.from(value).toString('latin1'),
    }))
    const again = parseSettings(list(renderConfig(settings)))
    expect(again).toEqual([...settings, { key: 'core.bare', value: 'false' }])
  },
)

test('a repository never makes itself bare', () => {
  const text = Buffer.from(renderConfig([{ key: 'core.bare', value: 'true' }])).toString()
  expect(text).toBe('[core]\n\tbare = false\n')
})
