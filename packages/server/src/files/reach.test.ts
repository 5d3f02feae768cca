import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  type FileUse,
  newBytes,
  outcome,
  usesOfAny,
  usesOfFolders,
} from '../../test/kit/file-uses.ts'
import type { Files, Told } from '../ports/files.ts'
import { createFilesFactory } from './create-files-factory.ts'
import { depthMax } from './paths.ts'

// Policy that speaks of places is asked of the place that a call stands at, before anything there is touched.

type Asked = readonly [relative: string, argument: string | undefined, shown: string | undefined]

const fakes = {
  ids: {
    next: (prefix: string) => `${prefix}-${Math.random().toString(36).slice(2)}`,
    secret: () => Buffer.alloc(32),
  },
  clock: { wall: () => Date.now(), now: () => Date.now() },
}

const ways = [true, false].map((descriptors) => [
  descriptors ? 'by descriptors' : 'by paths',
  descriptors,
]) as [string, boolean][]

/** The folders of an agent whose calls may not touch what `denied` says. */
const open = (denied: (place: Told, argument?: string) => boolean, descriptorPaths = true) => {
  const root = mkdtempSync(path.join(tmpdir(), 'gatehouse-reach-'))
  const factory = createFilesFactory({ ...fakes, descriptorPaths })
  onTestFinished(() => {
    factory[Symbol.dispose]()
    rmSync(root, { recursive: true })
  })
  const asked: Asked[] = []
  const permits = (place: Told, argument?: string, shown?: string): boolean => {
    asked.push([place.relative, argument, shown])
    return !denied(place, argument)
  }
  const agent = { name: 'alpha', workspace: root, mounts: [] }
  const reach = {
    permits,
    reads: ({ relative }: Told) => relative !== 'unread',
    writes: ({ relative }: Told) => relative !== 'unwritten',
  }
  const at = (name: string) => path.join(root, name)
  const put = (name: string) => {
    mkdirSync(path.dirname(at(name)), { recursive: true })
    writeFileSync(at(name), name)
  }
  return { root, at, put, asked, files: factory.open(agent, reach), free: factory.open(agent) }
}

const isSecret = ({ relative }: Told) => /(^|\/)secret/.test(relative)
const ofFolders: readonly FileUse[] = [
  ...usesOfFolders,
  ['make a folder', (f, p) => f.makeDirectory(`${p}/new`, { parents: true })],
  ['pin', (f, p) => f.pin(p, { writable: true })[Symbol.dispose]()],
]

for (const [way, descriptors] of ways) {
  test.each(usesOfAny)(
    `%s asks of the place, whatever name leads there, ${way}`,
    async (_name, use) => {
      const { put, at, files } = open(isSecret, descriptors)
      for (const name of ['mine', 'secret', 'folder/secret.txt', 'plain']) put(name)
      symlinkSync('folder', at('link'))
      for (const name of ['secret', 'folder/../secret', 'folder/secret.txt', 'link/secret.txt'])
        expect([name, await outcome(() => use(files, name))]).toEqual([name, 'PathNotPermitted'])
      expect(await outcome(() => use(files, 'plain'))).toBe('done')
    },
  )

  test.each(ofFolders)(`%s asks of the folder, ${way}`, async (_name, use) => {
    const { put, at, files } = open(isSecret, descriptors)
    put('secret/a')
    put('open/a')
    symlinkSync('secret', at('link'))
    for (const name of ['secret', 'link', 'open/../secret'])
      expect([name, await outcome(() => use(files, name))]).toEqual([name, 'PathNotPermitted'])
    expect(readdirSync(at('secret'))).toEqual(['a'])
    expect(await outcome(() => use(files, 'open'))).toBe('done')
  })

  test(`no folder is made on the way to a place that the call may not touch, ${way}`, async () => {
    const { put, at, asked, files, root } = open(isSecret, descriptors)
    put('have/a')
    const write = (name: string) =>
      outcome(() => files.write(name, newBytes, { createParents: true }))
    expect(await write('new/deep/secret')).toBe('PathNotPermitted')
    expect(await write('have/new/secret')).toBe('PathNotPermitted')
    expect(await write('secret/../other/a')).toBe('PathNotPermitted')
    expect(await write('new/../secret')).toBe('PathNotPermitted')
    expect(readdirSync(root)).toEqual(['have'])
    expect(readdirSync(at('have'))).toEqual(['a'])
    asked.length = 0
    expect(await write('have/new/../b/c')).toBe('done')
    expect(asked.map(([relative]) => relative)).toEqual([
      ...['have/new', 'have/b/c', 'have/b/c', 'have/b/c'],
    ])
    expect(asked.every(([, , shown]) => shown === 'have/new/../b/c')).toBe(true)
    asked.length = 0
    expect(await write('x/y/z')).toBe('done')
    expect(new Set(asked.map(([relative]) => relative))).toEqual(new Set(['x/y/z']))
    expect(existsSync(at('x/y/z'))).toBe(true)
  })
}

test('a listing and a walk leave out what the call may not touch, and count it', async () => {
  const { put, files, free } = open(isSecret)
  for (const name of ['a', 'secret1', 'secret2/b', 'c/secret', 'c/d']) put(name)
  const names = async (of: Files) => {
    const { entries, withheld } = await of.list('.')
    return [entries.map(({ name }) => name).toSorted(), withheld]
  }
  expect(await names(files)).toEqual([['a', 'c'], 2])
  expect(await names(free)).toEqual([['a', 'c', 'secret1', 'secret2'], 0])
  const below: string[] = []
  for await (const entry of files.walk('.', new AbortController().signal))
    if (!('withheld' in entry)) below.push(entry.relative)
  expect(below).toEqual(['a', 'c', 'c/d'])
})

test('what may be touched, read and written is asked of the call alone', () => {
  const { files, free, at } = open(isSecret)
  const may = (of: Files, name: string) => [
    ...[of.permits(at(name)), of.mayRead(at(name)), of.mayWrite(at(name))],
  ]
  expect(files.asks).toBe(true)
  expect(may(files, 'plain')).toEqual([true, true, true])
  expect(may(files, 'secret')).toEqual([false, true, true])
  expect(may(files, 'unread')).toEqual([true, false, true])
  expect(may(files, 'unwritten')).toEqual([true, true, false])
  expect(free.asks).toBe(false)
  expect(['secret', 'unread', 'unwritten'].flatMap((name) => may(free, name))).not.toContain(false)
})

test('each side of a copy and of a move is asked under the name of its argument', async () => {
  const { put, files, asked } = open(() => false)
  put('from/a')
  put('file')
  const told = () => new Set(asked.splice(0).map(([where, argument]) => `${argument} ${where}`))
  await files.copy('from', 'to', { overwrite: false })
  expect(told()).toEqual(
    new Set(['source from', 'destination to', 'source from/a', 'destination to/a']),
  )
  await files.move('from', 'moved', { overwrite: false })
  expect(told()).toEqual(
    new Set(['source from', 'destination moved', 'source from/a', 'destination moved/a']),
  )
  await files.copy('file', 'file2', { overwrite: false })
  expect(told()).toEqual(new Set(['source file', 'destination file2']))
  await files.trash('to', { recursive: true })
  expect(told()).toContain('path to/a')
})

test('a tree is left as it is where any thing in it is kept from the call, on either side', async () => {
  for (const side of ['source', 'destination']) {
    const { put, at, files } = open(
      (place, argument) => argument === side && place.relative.endsWith('deep/secret'),
    )
    put('tree/a')
    put('tree/deep/b')
    put('tree/deep/secret')
    for (const use of [
      () => files.copy('tree', 'other', { overwrite: false }),
      () => files.move('tree', 'other', { overwrite: false }),
    ])
      expect(await outcome(use)).toBe('PathNotPermitted')
    expect(existsSync(at('other'))).toBe(false)
    expect(readdirSync(at('tree/deep')).toSorted()).toEqual(['b', 'secret'])
  }
})

test('a tree that the call may touch moves, as deep as paths may be, and leaves no descriptor open', async () => {
  const { at, files, free } = open(() => false)
  mkdirSync(at(`top/${'d/'.repeat(depthMax)}`), { recursive: true })
  mkdirSync(at(`deep/${'d/'.repeat(depthMax + 1)}`), { recursive: true })
  const round = async (): Promise<number> => {
    await files.move('top', 'moved', { overwrite: false })
    await files.move('moved', 'top', { overwrite: false })
    await expect(files.move('deep', 'gone', { overwrite: false })).rejects.toMatchObject({
      ...{ type: 'InvalidPath', facts: { detail: `it is more than ${depthMax} folders deep` } },
    })
    return readdirSync('/proc/self/fd').length
  }
  const before = await round()
  for (let more = 0; more < 3; more += 1) expect(await round()).toBeLessThanOrEqual(before)
  expect(readdirSync(at('.')).toSorted()).toEqual(['deep', 'top'])
  // Without places to ask for, a folder is moved as one, however deep it is.
  await free.move('deep', 'gone', { overwrite: false })
})

test('the refusal names the path as it was written, and not where it leads', async () => {
  const { put, at, files } = open(isSecret)
  put('secret/a')
  put('tree/secret')
  symlinkSync('secret', at('link'))
  await expect(files.read('link/a', { bytesMax: 10 })).rejects.toMatchObject({
    facts: { path: 'link/a', detail: 'not the place that it leads to' },
  })
  await expect(files.move('tree', 'moved', { overwrite: false })).rejects.toMatchObject({
    facts: { path: 'tree', detail: expect.stringContaining('nothing of it was touched') as string },
  })
})
