import { readFileSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canary, PlacesKit } from './places-kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

const policy = `version: 1
rules:
  - { match: "git.*", when: 'has(args.path) && args.path.startsWith("project/secret")', tier: blocked, floor: true }
  - { match: "git.*", tier: approval_required }
  - { match: "*", tier: autonomous }
limits:
  - { match: "git.*", limit: 10000, window: 1m }
`

describe.skipIf(noReal)('what a change of a repository would do is shown before', () => {
  let kit: PlacesKit

  beforeEach(async () => {
    kit = await PlacesKit.open(policy)
    kit.put('project/a.txt', 'one\ntwo\nthree\n')
    kit.put('project/b.txt', 'b\n')
    kit.put('project/secret/f.txt', `first ${canary}\n`)
    kit.repository('project')
  })
  afterEach(async () => {
    await kit[Symbol.asyncDispose]()
  })

  const git = (...args: string[]) => kit.git('project', ...args)
  const commit = (name: string, content: string, message: string) => {
    kit.put(`project/${name}`, content)
    git('add', '--all')
    git('commit', '--quiet', '-m', message)
  }
  const stateOf = () => [
    kit.below('project'),
    git('for-each-ref'),
    git('status', '--porcelain'),
    git('count-objects'),
  ]
  /** The id of the request, and what its card shows; nothing was changed for it. */
  const ask = async (capability: string, args: object) => {
    const before = stateOf()
    const id = await kit.kit.pending('alpha', capability, { path: 'project', ...args })
    expect(stateOf()).toEqual(before)
    const { preview } = await kit.kit.app.showApproval(kit.kit.operator(), { approval_id: id })
    expect(preview?.text).not.toContain(canary)
    return { id, text: preview?.text ?? '' }
  }

  test('a merge, with its commits, its changes and the conflicts that it would have', async () => {
    git('checkout', '--quiet', '-b', 'other')
    commit('a.txt', 'one\nTWO\nthree\n', 'Theirs')
    commit('c.txt', 'c\n', 'More')
    git('checkout', '--quiet', 'main')
    const forward = await ask('git.merge', { ref: 'other' })
    expect(forward.text).toMatch(/^Merge other \([0-9a-f]{12}\) into main \([0-9a-f]{12}\)\./)
    expect(forward.text).toContain('The branch moves forward to it')
    expect(forward.text).toMatch(/2 new commits:\n {2}[0-9a-f]{12} More \(Ana\)\n.* Theirs \(Ana\)/)
    expect(forward.text).toContain('2 files, +2 -1')
    expect(forward.text).toContain('-two\n+TWO')
    commit('b.txt', 'ours\n', 'Ours')
    const clean = await ask('git.merge', { ref: 'other' })
    expect(clean.text).toContain('A merge commit is made.\nNo conflicts are expected.')
    commit('a.txt', 'one\nzwei\nthree\n', 'Also ours')
    const conflicting = await ask('git.merge', { ref: 'other' })
    expect(conflicting.text).toContain('Conflicts are expected in 1 file: a.txt')
    const done = await ask('git.merge', { ref: 'main' })
    expect(done.text).toContain('Nothing is new: nothing will change.')
    const missing = await kit.call('git.merge', { path: 'project', ref: 'missing' })
    expect(missing).toMatchObject({ kind: 'failed', error: { type: 'InvalidRef' } })
  })

  test('only the commit that was shown is merged', async () => {
    git('checkout', '--quiet', '-b', 'other')
    commit('c.txt', 'c\n', 'Shown')
    git('checkout', '--quiet', 'main')
    const { id } = await ask('git.merge', { ref: 'other' })
    git('checkout', '--quiet', 'other')
    commit('c.txt', 'evil\n', 'Not shown')
    git('checkout', '--quiet', 'main')
    await expect(kit.kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
    expect(git('log', '--format=%s')).toBe('First')
    const anew = await ask('git.merge', { ref: 'other' })
    expect(anew.text).toContain('Not shown')
    await kit.kit.decide(anew.id, 'approve')
    const { result } = await kit.kit.resolved('alpha', anew.id)
    expect(result).toMatchObject({ success: true, data: { result: 'fast_forward' } })
  })

  test('giving a merge up, with what is lost', async () => {
    git('checkout', '--quiet', '-b', 'other')
    commit('a.txt', 'one\nTWO\nthree\n', 'Theirs')
    git('checkout', '--quiet', 'main')
    commit('a.txt', 'one\nzwei\nthree\n', 'Ours')
    expect(() => git('merge', '--quiet', 'other')).toThrow()
    const { text } = await ask('git.merge', { abort: true })
    expect(text).toContain('Give up the merge that is under way in project.')
    expect(text).toContain('a.txt')
    expect(text).toContain('->>>>>>> other')
  })

  test('a restore, with the changes that are lost, and just those', async () => {
    kit.put('project/a.txt', 'one\nmine\nthree\n')
    kit.put('project/b.txt', 'staged\n')
    git('add', 'b.txt')
    kit.put('project/b.txt', 'b\n')
    const { id, text } = await ask('git.restore', { files: ['.'] })
    expect(text).toContain('Restore all files of project as in HEAD.')
    expect(text).toContain('Staged only, and unstaged again: b.txt')
    expect(text).toContain('-mine\n+two')
    const some = await ask('git.restore', { files: ['b.txt', 'a.txt'], source: 'main' })
    expect(some.text).toContain('Restore b.txt, a.txt of project as in main.')
    kit.put('project/a.txt', 'one\nmore work\nthree\n')
    await expect(kit.kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
    expect(readFileSync(kit.at('project/a.txt'), 'utf8')).toContain('more work')
    git('checkout', '--quiet', 'HEAD', '--', '.')
    const nothing = await ask('git.restore', { files: ['a.txt'] })
    expect(nothing.text).toContain('Nothing differs: nothing will change.')
  })

  test('changes of files that policy keeps from the call are counted, and not shown', async () => {
    kit.put('project/a.txt', 'one\nmine\nthree\n')
    kit.put('project/secret/f.txt', `second ${canary}\n`)
    const restored = await ask('git.restore', { files: ['.'] })
    expect(restored.text).toContain('1 file more: policy keeps from this call what they hold.')
    expect(restored.text).toContain('-mine\n+two')
    expect(restored.text).not.toContain('secret/')
    git('checkout', '--quiet', '-b', 'other')
    git('commit', '--quiet', '-am', 'Both')
    git('checkout', '--quiet', 'main')
    for (const [capability, args] of [
      ['git.merge', { ref: 'other' }],
      ['git.branch', { action: 'switch', name: 'other' }],
    ] as const) {
      const { text } = await ask(capability, args)
      expect(text).toContain('1 file more: policy keeps from this call what they hold.')
      expect(text).not.toContain('secret/')
    }
  })

  test('what is done to a branch', async () => {
    git('checkout', '--quiet', '-b', 'other')
    commit('a.txt', 'one\nTWO\nthree\n', 'Theirs')
    git('checkout', '--quiet', 'main')
    expect((await ask('git.branch', {})).text).toContain('List the branches of project.')
    const created = await ask('git.branch', { action: 'create', name: 'x', start_point: 'other' })
    expect(created.text).toMatch(/It begins at [0-9a-f]{12} Theirs \(Ana\)$/)
    const switched = await ask('git.branch', { action: 'switch', name: 'other' })
    expect(switched.text).toContain('-two\n+TWO')
    const deleted = await ask('git.branch', { action: 'delete', name: 'other' })
    expect(deleted.text).toMatch(/Its newest commit is [0-9a-f]{12} Theirs, of 2/)
    const current = await ask('git.branch', { action: 'delete', name: 'main' })
    expect(current.text).toContain('It is the current branch, so the call is refused.')
    const none = await ask('git.branch', { action: 'delete', name: 'none' })
    expect(none.text).toContain('There is no such branch now')
  })

  test('only the branch that was shown is created, switched to or deleted', async () => {
    git('checkout', '--quiet', '-b', 'other')
    commit('c.txt', 'c\n', 'Shown')
    git('checkout', '--quiet', 'main')
    const created = await ask('git.branch', { action: 'create', name: 'x', start_point: 'other' })
    const switched = await ask('git.branch', { action: 'switch', name: 'other' })
    const deleted = await ask('git.branch', { action: 'delete', name: 'other' })
    git('checkout', '--quiet', 'other')
    commit('c.txt', 'evil\n', 'Not shown')
    git('checkout', '--quiet', 'main')
    for (const { id } of [created, switched, deleted])
      await expect(kit.kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
    const anew = await ask('git.branch', { action: 'create', name: 'x', start_point: 'other' })
    await kit.kit.decide(anew.id, 'approve')
    expect((await kit.kit.resolved('alpha', anew.id)).result).toMatchObject({ success: true })
    expect(git('log', '-1', '--format=%s', 'x')).toBe('Not shown')
  })

  test('a new repository where one was made meanwhile is stale', async () => {
    kit.put('fresh/a.txt', 'a\n')
    const { id } = await ask('git.init', { path: 'fresh' })
    kit.repository('fresh')
    await expect(kit.kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
  })

  test('a new repository', async () => {
    const fresh = await ask('git.init', { path: 'fresh' })
    expect(fresh.text).toMatch(
      /^git init --initial-branch=main \/.*\/fresh\nThe folder is created\.$/,
    )
    const again = await ask('git.init', { path: 'project' })
    expect(again.text).toContain('There is a repository already, so the call is refused.')
  })

  test('a long change is cut, and says so', async () => {
    git('checkout', '--quiet', '-b', 'other')
    commit('long.txt', 'a line of a long file\n'.repeat(20_000), 'Long')
    git('checkout', '--quiet', 'main')
    const { text } = await ask('git.merge', { ref: 'other' })
    expect(text).toContain('1 file, +20000 -0\n  added long.txt\nNot every change is shown below')
    expect(text.length).toBeLessThan(65_000)
  })
})
