import { GatehouseError } from '@gatehouse/contract'
import { parseArguments } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { PreviewContext } from '../../ports/capability.ts'
import { commit } from './commit.ts'

const contextOf = (
  changes: readonly { path: string; status: 'added' | 'modified' }[],
  contentOf: (path: string) => string = () => 'x',
) => {
  const asked: (readonly string[] | undefined)[] = []
  const context = {
    git: {
      async planCommit(_path: string, files: readonly string[] | undefined) {
        asked.push(files)
        return { branch: 'main', head: 'h', changes }
      },
    },
    files: {
      resolve: (path: string) => `/work/${path}`,
      locate: (path: string) => ({ absolute: `${path} as text`, relative: path }),
      async fingerprint(path: string) {
        if (path.endsWith('out')) throw new GatehouseError('PathOutOfScope', { path })
        return { path, sha256: contentOf(path) }
      },
    },
  }
  return { asked, context: context as unknown as PreviewContext }
}

const args = (given: object) =>
  parseArguments(commit, { path: 'app', message: 'Why\n\nBecause', ...given })

test('the approver of a commit sees its files and its whole message', async () => {
  const { asked, context } = contextOf([
    { path: 'a.txt', status: 'added' },
    { path: 'out', status: 'modified' },
  ])
  expect(await commit.preview?.(args({ files: ['a.txt', 'out'] }), context)).toEqual({
    kind: 'diff',
    path: '/work/app',
    text: 'commit of 2 files on main:\n  added a.txt\n  modified out\n\nWhy\n\nBecause',
  })
  expect(asked).toEqual([['a.txt', 'out']])
})

test('an approval of a commit is bound to what the files hold, and a link out of reach is no obstacle', async () => {
  const { context } = contextOf([
    { path: 'a.txt', status: 'added' },
    { path: 'out', status: 'added' },
  ])
  expect(await commit.resolve?.(args({}), context)).toEqual({
    branch: 'main',
    head: 'h',
    total: 2,
    changes: [
      { path: 'a.txt', status: 'added', content: { path: '/work/app/a.txt', sha256: 'x' } },
      { path: 'out', status: 'added', content: { leads_to: '/work/app/out as text' } },
    ],
  })
})

test('an approval of a commit is bound to every file, also where they are too many to be named', async () => {
  const many = Array.from({ length: 1_500 }, (_, i) => ({
    path: `f${i}.txt`,
    status: 'modified' as const,
  }))
  const bound = (changed: string) =>
    commit.resolve?.(
      args({}),
      contextOf(many, (path) => (path.endsWith(`/${changed}`) ? 'other' : 'x')).context,
    )
  const before = await bound('none')
  expect(await bound('none')).toEqual(before)
  for (const name of ['f0.txt', 'f999.txt', 'f1000.txt', 'f1499.txt'])
    expect(await bound(name)).not.toEqual(before)
  const preview = await commit.preview?.(args({}), contextOf(many).context)
  expect(preview).toMatchObject({ text: expect.stringContaining('f999.txt\n  and 500 more\n') })
})

test('a message that says nothing is refused', () => {
  for (const message of ['', ' \n', 'a\0b'])
    expect(commit.parse({ path: 'app', message }).kind).toBe('invalid')
})
