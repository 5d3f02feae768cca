import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { GitKit, newest, plainGit, refusal, whole } from '../git/kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

describe.skipIf(noReal)('git for agents', () => {
  test('a new repository takes a first commit, by name of the agent, and shows it', async () => {
    await using kit = new GitKit()
    expect(await kit.git.init('project', 'main')).toMatchObject({
      path: kit.at('project'),
      default_branch: 'main',
      head: null,
    })
    expect(await kit.git.status('project', { limit: 10 })).toMatchObject({
      branch: 'main',
      head: null,
      state: 'clean',
    })
    expect((await kit.git.log('project', newest)).commits).toEqual([])
    kit.put('project/a.txt', 'one\ntwo\n')
    kit.put('project/docs/b.txt', 'three\n')
    const made = await kit.git.commit('project', { message: 'First\n\nWith a body' })
    expect(made).toMatchObject({ branch: 'main' })
    expect(made.changes.map(({ path, status }) => [path, status])).toEqual([
      ['a.txt', 'added'],
      ['docs/b.txt', 'added'],
    ])
    const { commits, truncated } = await kit.git.log('project', newest)
    expect(truncated).toBe(false)
    expect(commits).toMatchObject([
      {
        hash: made.commit_hash,
        parents: [],
        author_name: 'coder',
        author_email: 'coder@gatehouse.invalid',
        subject: 'First',
        body: 'With a body',
      },
    ])
    expect(plainGit(kit.at('project'), 'fsck', '--strict')).toBe('')
    expect(kit.notes[0]).toEqual({ sandbox: 'bubblewrap' })
  })
})
