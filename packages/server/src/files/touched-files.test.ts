import { hash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { typeOf } from '../../test/kit/type-of.ts'
import type { Files, Fingerprint } from '../ports/files.ts'
import { comingBefore, openFiles as open } from './testing.ts'
import { chunkBytes } from './transfer.ts'

// A program that uses a file again and again while it is changed here, so that no two looks at it are the same.

const bytes = (text: string): Buffer => Buffer.from(text)

/** Where times of change are told coarsely, some touches leave no trace. */
const touch = (file: string): void => {
  const changedAt = () => statSync(file, { bigint: true }).ctimeNs
  for (const before = changedAt(); changedAt() === before; ) utimesSync(file, 0, 0)
}

/** Counts the turns that others get meanwhile. */
const countTurns = () => {
  const counted = { turns: 0, [Symbol.dispose]: () => clearImmediate(next) }
  const count = () => {
    counted.turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  return counted
}

type Use = (files: Files, bound: Fingerprint) => Promise<unknown>

const uses: readonly (readonly [what: string, error: string, use: Use])[] = [
  [
    'an approved write of',
    'ApprovalStale',
    (files, bound) => files.write('a', bytes('new'), { createParents: false, bound }),
  ],
  [
    'a write for its digest of',
    'FileChanged',
    (files) =>
      files.write('a', bytes('new'), { createParents: false, ifSha256: hash('sha256', 'old') }),
  ],
  [
    'an approved move of',
    'ApprovalStale',
    async (files, source) => {
      const bound = { source, destination: await files.fingerprint('b', { entry: true }) }
      return files.move('a', 'b', { overwrite: false, bound })
    },
  ],
  [
    'an approved deletion of',
    'ApprovalStale',
    (files, bound) => files.trash('a', { recursive: false, bound }),
  ],
]

test.each(uses)(
  '%s what is touched all the time ends, and lets others go on',
  async (_, error, use) => {
    using kit = open()
    kit.put('a', 'old')
    const bound = await kit.files.fingerprint('a', { entry: true })
    let left = 1_000
    using others = countTurns()
    {
      using _toucher = comingBefore('lstatSync', (at) => {
        if (path.basename(at) === 'a' && left-- > 0) touch(kit.at('a'))
      })
      expect(await typeOf(use(kit.files, bound))).toBe(error)
    }
    expect(others.turns).toBeGreaterThan(90)
    expect([kit.get('a'), readdirSync(kit.root)]).toEqual(['old', ['a']])
    // A touch or two are waited for.
    left = 5
    using _toucher = comingBefore('lstatSync', (at) => {
      if (path.basename(at) === 'a' && left-- > 0) touch(kit.at('a'))
    })
    await use(kit.files, bound)
  },
)

test('an append to a file with several names that others write to gives up early and soon', async () => {
  using kit = open()
  kit.put('log', 'x'.repeat(3 * chunkBytes))
  linkSync(kit.at('log'), kit.at('second name'))
  const copied = new Map<string, number>()
  using _writer = comingBefore('lstatSync', (at) => {
    if (path.basename(at) !== 'log') return
    appendFileSync(kit.at('second name'), '+')
    for (const name of readdirSync(kit.root))
      if (!['log', 'second name'].includes(name)) copied.set(name, statSync(kit.at(name)).size)
  })
  expect(await typeOf(kit.files.append('log', bytes('new')))).toBe('Overloaded')
  expect([...copied.values()]).toEqual(Array.from({ length: 5 }, () => chunkBytes))
  expect(readdirSync(kit.root).toSorted()).toEqual(['log', 'second name'])
  expect(kit.get('log')).not.toContain('new')
})

test.each([
  ['before', 'and nothing is there', false],
  ['before', 'and nothing is there', true],
  ['after', 'and its copy is there', false],
  ['after', 'and its copy is there', true],
] as const)(
  'a file that grows %s its copy stands in another of the folders stays, %s; approved: %s',
  async (when, _, isApproved) => {
    using kit = open({ mount: true })
    const to = path.join(kit.other, 'a')
    kit.put('a', 'old')
    const bound = isApproved
      ? {
          source: await kit.files.fingerprint('a', { entry: true }),
          destination: await kit.files.fingerprint(to, { entry: true }),
        }
      : null
    let grows = true
    using _writer = comingBefore('lstatSync', (at) => {
      if (!grows || at.endsWith(to) || path.basename(at) !== 'a') return
      // A temporary file is there as soon as the copy is made.
      if (when === 'before' ? readdirSync(kit.other).length === 0 : !existsSync(to)) return
      grows = false
      appendFileSync(kit.at('a'), ', added')
    })
    const error = await kit.files.move('a', to, { overwrite: false, bound }).catch(String)
    expect(error).toContain(`${kit.at('a')} has changed`)
    expect(error).toContain(isApproved ? 'is stale' : 'its sha256 is another')
    expect(kit.get('a')).toBe('old, added')
    if (when === 'before') expect(readdirSync(kit.other)).toEqual([])
    else expect(readFileSync(to, 'utf8')).toBe('old')
    expect(String(error).includes(`it stays, and ${to} is a copy`)).toBe(when === 'after')
  },
)
