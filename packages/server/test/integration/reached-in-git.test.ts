import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canary, PlacesKit } from './places-kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

const blocking = (match: string) => `version: 1
rules:
  - { match: "${match}", when: 'has(args.path) && args.path.startsWith("project/secret")', tier: blocked, floor: true }
  - { match: "*", tier: autonomous }
limits:
  - { match: "git.*", limit: 10000, window: 1m }
`

describe.skipIf(noReal).each([
  ['the files', 'filesystem.*'],
  ['git', 'git.*'],
])('what policy keeps from %s is not reached through a repository', (_, match) => {
  let kit: PlacesKit

  beforeEach(async () => {
    kit = await PlacesKit.open(blocking(match))
    kit.put('project/a.txt', 'one\n')
    kit.put('project/secret/f.txt', `first ${canary}\n`)
    kit.repository('project')
    kit.put('project/a.txt', 'two\n')
    kit.put('project/secret/f.txt', `second ${canary}\n`)
    kit.put('project/secret/new.txt', `new ${canary}\n`)
  })
  afterEach(async () => {
    await kit[Symbol.asyncDispose]()
  })

  const path = 'project'
  const dataOf = async (capability: string, args: object = {}) => {
    const outcome = await kit.call(capability, { path, ...args })
    if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
    expect(JSON.stringify(outcome)).not.toContain(canary)
    expect(JSON.stringify(outcome.data)).not.toContain('secret/')
    return outcome.data
  }
  const refused = async (capability: string, args: object = {}) => {
    const before = [kit.below('project'), kit.git('project', 'rev-parse', 'HEAD')]
    const outcome = await kit.call(capability, { path, ...args })
    expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'PathNotPermitted' } })
    expect(JSON.stringify(outcome)).not.toContain(canary)
    expect([kit.below('project'), kit.git('project', 'rev-parse', 'HEAD')]).toEqual(before)
  }

  test('status, diff and show leave it out, and count it', async () => {
    expect(await dataOf('git.status')).toMatchObject({
      unstaged: [{ path: 'a.txt' }],
      untracked: [],
      totals: { unstaged: 1, untracked: 0 },
      withheld: 2,
      state: 'changed',
    })
    for (const args of [{}, { paths: ['.'] }, { from: 'HEAD' }])
      expect(await dataOf('git.diff', args)).toMatchObject({
        files: [{ path: 'a.txt' }],
        patch: expect.stringContaining('+two'),
        totals: { files: 1 },
        withheld: 1,
      })
    expect(await dataOf('git.diff', { paths: ['secret'] })).toMatchObject({
      files: [],
      patch: '',
      withheld: 1,
    })
    expect(await dataOf('git.show')).toMatchObject({
      files: [{ path: 'a.txt' }],
      patch: expect.stringContaining('+one'),
      withheld: 1,
    })
    expect(await dataOf('git.log')).toMatchObject({ commits: [{ subject: 'First' }] })
  })

  test('a file that was renamed out of it is not shown as what it was', async () => {
    kit.git('project', 'checkout', '--', '.')
    kit.git('project', 'mv', 'secret/f.txt', 'b.txt')
    expect(await dataOf('git.diff', { staged: true })).toMatchObject({ files: [], withheld: 1 })
  })

  test('blame and the history of it are refused', async () => {
    await refused('git.blame', { file: 'secret/f.txt' })
    await refused('git.log', { file: 'secret/f.txt' })
    expect(await dataOf('git.blame', { file: 'a.txt' })).toMatchObject({ truncated: false })
  })

  test('a commit of everything leaves it as it is, staged or not; one of it is refused', async () => {
    await refused('git.commit', { message: 'All', files: ['.'] })
    await refused('git.commit', { message: 'It', files: ['secret/f.txt'] })
    kit.git('project', 'add', 'secret')
    expect(await dataOf('git.commit', { message: 'Mine' })).toMatchObject({
      files: [{ path: 'a.txt' }],
      files_committed: 1,
      withheld: 2,
    })
    expect(kit.git('project', 'show', '--format=', '--name-only', 'HEAD')).toBe('a.txt')
    expect(kit.git('project', 'diff', '--cached', '--name-only')).toContain('secret/new.txt')
    const again = await kit.call('git.commit', { path, message: 'Nothing' })
    expect(again).toMatchObject({ kind: 'failed', error: { type: 'NothingToCommit' } })
  })

  test('nothing is written there by a restore, a switch or a merge, and a push sends none of it', async () => {
    await refused('git.restore', { files: ['.'] })
    expect(await dataOf('git.restore', { files: ['a.txt'] })).toMatchObject({ restored: ['a.txt'] })
    kit.git('project', 'checkout', '--', '.')
    rmSync(kit.at('project/secret/new.txt'))
    kit.git('project', 'checkout', '--quiet', '-b', 'other')
    kit.put('project/secret/f.txt', `other ${canary}\n`)
    kit.git('project', 'commit', '--quiet', '-am', 'Other')
    kit.git('project', 'checkout', '--quiet', 'main')
    await refused('git.branch', { action: 'switch', name: 'other' })
    await refused('git.merge', { ref: 'other' })
    await refused('git.push', { remote: 'https://example.org/x.git' })
    kit.git('project', 'checkout', '--quiet', '-b', 'fine')
    kit.put('project/a.txt', 'three\n')
    kit.git('project', 'commit', '--quiet', '-am', 'Fine')
    kit.git('project', 'checkout', '--quiet', 'main')
    expect(await dataOf('git.merge', { ref: 'fine' })).toMatchObject({ result: 'fast_forward' })
    expect(await dataOf('git.branch', { action: 'switch', name: 'fine' })).toMatchObject({
      current: 'fine',
    })
    expect(readFileSync(kit.at('project/a.txt'), 'utf8')).toBe('three\n')
  })

  test('a merge does not follow a name that a file got here', async () => {
    kit.git('project', 'checkout', '--', '.')
    rmSync(kit.at('project/secret/new.txt'))
    kit.put('project/moves.txt', 'a line\n'.repeat(20))
    kit.git('project', 'add', '-A')
    kit.git('project', 'commit', '--quiet', '-m', 'Moves')
    kit.git('project', 'checkout', '--quiet', '-b', 'theirs')
    kit.put('project/moves.txt', `${'a line\n'.repeat(20)}theirs\n`)
    kit.git('project', 'commit', '--quiet', '-am', 'Theirs')
    kit.git('project', 'checkout', '--quiet', 'main')
    mkdirSync(kit.at('project/secret'), { recursive: true })
    kit.git('project', 'mv', 'moves.txt', 'secret/moved.txt')
    kit.git('project', 'commit', '--quiet', '-m', 'Moved')
    const before = kit.below('project/secret')
    const merged = await kit.call('git.merge', { path, ref: 'theirs' })
    expect(['succeeded', 'failed']).toContain(merged.kind)
    expect(kit.below('project/secret')).toEqual(before)
  })
})
