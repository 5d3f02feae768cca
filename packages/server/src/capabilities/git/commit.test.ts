import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import type { PreviewContext } from '../../ports/capability.ts'
import { commit } from './commit.ts'

const contextOf = (changes: readonly { path: string; status: 'added' | 'modified' }[]) => {
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
        return { path, sha256: 'x' }
      },
    },
  }
  return { asked, context: context as unknown as PreviewContext }
}

const args = (given: object) =>
  commit.inputs.parse({ path: 'app', message: 'Why\n\nBecause', ...given }) as never

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

test('a message that says nothing is refused', () => {
  for (const message of ['', ' \n', 'a\0b'])
    expect(commit.inputs.safeParse({ path: 'app', message }).success).toBe(false)
})
