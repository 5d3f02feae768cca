import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { typeOf } from '../../test/kit/type-of.ts'
import { openFiles as open } from './testing.ts'

const day = 24 * 60 * 60 * 1000

const sha = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const bytes = (text: string): Buffer => Buffer.from(text)
const never = new AbortController().signal

const gather = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const out: T[] = []
  for await (const one of all) out.push(one)
  return out
}

test('reads a large file whole, in ranges, and no further than asked', async () => {
  using kit = open()
  const large = Buffer.alloc(3_000_000, 'abcdefg')
  writeFileSync(kit.at('large'), large)
  const whole = await kit.files.read('large', { bytesMax: 1 << 22 })
  expect(whole.bytes.equals(large)).toBe(true)
  expect(whole).toMatchObject({ size_bytes: 3_000_000, truncated: false })
  const range = await kit.files.read('large', {
    offset: 1_000_000,
    limit: 200_000,
    bytesMax: 1 << 22,
  })
  expect(range.bytes.equals(large.subarray(1_000_000, 1_200_000))).toBe(true)
  expect(range.truncated).toBe(true)
  const cut = await kit.files.read('large', { bytesMax: 1000 })
  expect([cut.bytes.length, cut.truncated]).toEqual([1000, true])
  const past = await kit.files.read('large', { offset: 5_000_000, bytesMax: 1000 })
  expect([past.bytes.length, past.truncated]).toEqual([0, false])
})

test('gives each of two reads bytes of its own', async () => {
  using kit = open()
  kit.put('a', 'first')
  kit.put('b', 'other')
  const [a, b] = [
    await kit.files.read('a', { bytesMax: 10 }),
    await kit.files.read('b', { bytesMax: 10 }),
  ]
  expect([a.bytes.toString(), b.bytes.toString()]).toEqual(['first', 'other'])
})

test('writes a new file and replaces an old one, keeping its permission bits but no set-id', async () => {
  using kit = open()
  const made = await kit.files.write('new', bytes('one'), { createParents: false })
  expect(made).toEqual({ path: kit.at('new'), size_bytes: 3, sha256: sha('one'), created: true })
  expect(statSync(kit.at('new')).mode & 0o7777).toBe(0o666 & ~process.umask())
  chmodSync(kit.at('new'), 0o4750)
  expect(await kit.files.write('new', bytes('two'), { createParents: false })).toMatchObject({
    created: false,
  })
  expect(kit.get('new')).toBe('two')
  expect(statSync(kit.at('new')).mode & 0o7777).toBe(0o750)
  expect(readdirSync(kit.root)).toEqual(['new'])
})

test('makes the folders on the way only when asked to', async () => {
  using kit = open()
  const write = (createParents: boolean) =>
    kit.files.write('a/b/c', bytes('deep'), { createParents })
  expect(await typeOf(write(false))).toBe('FolderNotFound')
  await write(true)
  expect(kit.get('a/b/c')).toBe('deep')
  expect(await typeOf(kit.files.write('a', bytes('x'), { createParents: true }))).toBe(
    'IsADirectory',
  )
  expect(await typeOf(kit.files.write('a/b/c/d', bytes('x'), { createParents: true }))).toBe(
    'NotADirectory',
  )
})

test.each([4, 400_000])(
  'of many writers that saw the same %i bytes, one succeeds',
  async (size) => {
    using kit = open()
    const seen = 'x'.repeat(size)
    kit.put('shared', seen)
    const ifSha256 = sha(seen)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        typeOf(kit.files.write('shared', bytes(`by ${i}`), { createParents: false, ifSha256 })),
      ),
    )
    expect(outcomes.filter((o) => o === 'done')).toHaveLength(1)
    expect(outcomes.filter((o) => o === 'FileChanged')).toHaveLength(19)
    const gone = kit.files.write('none', bytes('x'), { createParents: false, ifSha256 })
    expect(await typeOf(gone)).toBe('FileChanged')
  },
)

test('of many writers of a new file, exactly one makes it', async () => {
  using kit = open()
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      typeOf(kit.files.write('lock', bytes(`${i}`), { createParents: false, mustBeNew: true })),
    ),
  )
  expect(outcomes.toSorted().slice(-1)).toEqual(['done'])
  expect(outcomes.filter((o) => o === 'AlreadyExists')).toHaveLength(19)
  expect(readdirSync(kit.root)).toEqual(['lock'])
})

test('appends, makes the file when there is none, and loses nothing when many append', async () => {
  using kit = open()
  await Promise.all(Array.from({ length: 50 }, () => kit.files.append('log', bytes('line\n'))))
  expect(kit.get('log')).toBe('line\n'.repeat(50))
  expect(await kit.files.append('log', bytes('!'))).toEqual({
    path: kit.at('log'),
    size_bytes: 251,
  })
  expect(await typeOf(kit.files.append('.', bytes('x')))).toBe('IsADirectory')
})

test('copies a file with its mode, and replaces only when told to', async () => {
  using kit = open()
  kit.put('tool', '#!/bin/sh\n')
  kit.put('there', 'old')
  chmodSync(kit.at('tool'), 0o755)
  const result = await kit.files.copy('tool', 'copy', { overwrite: false })
  expect(result).toMatchObject({
    destination: kit.at('copy'),
    size_bytes: 10,
    sha256: sha('#!/bin/sh\n'),
  })
  expect(statSync(kit.at('copy')).mode & 0o777).toBe(0o755)
  expect(await typeOf(kit.files.copy('tool', 'there', { overwrite: false }))).toBe('AlreadyExists')
  expect(kit.get('there')).toBe('old')
  await kit.files.copy('tool', 'there', { overwrite: true })
  expect(kit.get('there')).toBe('#!/bin/sh\n')
})

test('copies a folder whole or not at all', async () => {
  using kit = open()
  kit.put('tree/a', 'a')
  kit.put('tree/sub/b', 'b')
  symlinkSync('a', kit.at('tree/link'))
  expect(await kit.files.copy('tree', 'twin', { overwrite: false })).toMatchObject({
    size_bytes: 2,
    sha256: null,
  })
  expect(kit.get('twin/sub/b') + kit.get('twin/link')).toBe('ba')
  expect(await typeOf(kit.files.copy('tree', 'twin', { overwrite: true }))).toBe('AlreadyExists')
  expect(await typeOf(kit.files.copy('tree', 'tree/sub/me', { overwrite: false }))).toBe(
    'InvalidPath',
  )
  kit.put('tree/sub/.git/config', '')
  expect(await typeOf(kit.files.copy('tree', 'third', { overwrite: false }))).toBe('ProtectedPath')
  expect(readdirSync(kit.root).toSorted()).toEqual(['tree', 'twin'])
})

test('moves files and folders, never over anything unless told to', async () => {
  using kit = open()
  kit.put('a', 'a')
  kit.put('b', 'b')
  kit.put('tree/x', 'x')
  expect(await typeOf(kit.files.move('a', 'b', { overwrite: false }))).toBe('AlreadyExists')
  expect(await kit.files.move('a', 'c', { overwrite: false })).toMatchObject({ sha256: sha('a') })
  await kit.files.move('c', 'b', { overwrite: true })
  await kit.files.move('tree', 'tree2', { overwrite: false })
  expect([kit.get('b'), kit.get('tree2/x')]).toEqual(['a', 'x'])
  expect(await typeOf(kit.files.move('tree2', 'tree2/in', { overwrite: false }))).toBe(
    'InvalidPath',
  )
  expect(readdirSync(kit.root).toSorted()).toEqual(['b', 'tree2'])
})

test('moves a file between two roots, and says that a folder has to be copied', async () => {
  using kit = open({ mount: true })
  kit.put('a', 'a')
  kit.put('tree/x', 'x')
  await kit.files.move('a', `${kit.other}/a`, { overwrite: false })
  expect(readFileSync(`${kit.other}/a`, 'utf8')).toBe('a')
  expect(existsSync(kit.at('a'))).toBe(false)
  expect(await typeOf(kit.files.move('tree', `${kit.other}/tree`, { overwrite: false }))).toBe(
    'InvalidPath',
  )
  await kit.files.copy('tree', `${kit.other}/tree`, { overwrite: false })
  expect(readFileSync(`${kit.other}/tree/x`, 'utf8')).toBe('x')
})

test('takes away no other file than the one it moved to another root', async () => {
  using kit = open({ mount: true })
  kit.put('a', 'moved')
  const moving = kit.files.move('a', `${kit.other}/a`, { overwrite: false })
  renameSync(kit.at('a'), kit.at('aside'))
  kit.put('a', 'somebody else')
  await moving
  expect(readFileSync(`${kit.other}/a`, 'utf8')).toBe('moved')
  expect(kit.get('a')).toBe('somebody else')
})

test('makes folders, and is content with one that is there', async () => {
  using kit = open()
  kit.put('file', '')
  expect(await typeOf(kit.files.makeDirectory('a/b', { parents: false }))).toBe('FolderNotFound')
  const first = await kit.files.makeDirectory('a/b', { parents: true })
  const again = await kit.files.makeDirectory('a/b', { parents: true })
  expect([first, again]).toEqual([
    { path: kit.at('a/b'), created: true },
    { path: kit.at('a/b'), created: false },
  ])
  expect(await typeOf(kit.files.makeDirectory('file', { parents: true }))).toBe('AlreadyExists')
})

test('brings back what was deleted, with what it held', async () => {
  using kit = open()
  kit.put('tree/sub/x', 'x')
  kit.put('file', 'text')
  expect(await typeOf(kit.files.trash('tree', { recursive: false }))).toBe('DirectoryNotEmpty')
  const tree = await kit.files.trash('tree', { recursive: true })
  const file = await kit.files.trash('file', { recursive: false })
  expect(file).toMatchObject({
    path: kit.at('file'),
    recoverable_until: '2026-03-08T12:00:00.000Z',
  })
  expect((await kit.files.list('.')).entries).toEqual([])
  expect(await kit.files.restore(tree.trash_id)).toEqual({ path: kit.at('tree') })
  expect(await kit.files.restore(file.trash_id)).toEqual({ path: kit.at('file') })
  expect([kit.get('tree/sub/x'), kit.get('file')]).toEqual(['x', 'text'])
  expect(await typeOf(kit.files.restore(file.trash_id))).toBe('TrashNotFound')
  expect(readdirSync(kit.at('.gatehouse-trash'))).toEqual([])
})

test('restores into a folder that has gone, and never over what stands there now', async () => {
  using kit = open()
  kit.put('tree/x', 'old')
  const { trash_id } = await kit.files.trash('tree/x', { recursive: false })
  rmSync(kit.at('tree'), { recursive: true })
  kit.put('tree/x', 'new')
  expect(await typeOf(kit.files.restore(trash_id))).toBe('AlreadyExists')
  expect(kit.get('tree/x')).toBe('new')
  rmSync(kit.at('tree'), { recursive: true })
  await kit.files.restore(trash_id)
  expect(kit.get('tree/x')).toBe('old')
})

test('nobody addresses the trash, and a forged note in it leads nowhere', async () => {
  using kit = open()
  kit.put('x', 'x')
  const { trash_id } = await kit.files.trash('x', { recursive: false })
  for (const p of ['.gatehouse-trash', `.gatehouse-trash/${trash_id}/item`, '.GATEHOUSE-TRASH/y']) {
    expect(await typeOf(kit.files.read(p, { bytesMax: 9 }))).toBe('ProtectedPath')
    expect(await typeOf(kit.files.write(p, bytes('y'), { createParents: true }))).toBe(
      'ProtectedPath',
    )
  }
  expect(await gather(kit.files.walk('.', never))).toEqual([])
  kit.put('like-trash/item', '')
  kit.put('like-trash/meta.json', JSON.stringify({ path: 'restored', deleted_at: 0 }))
  for (const id of ['../like-trash', '../x', '.', 'trash-1', `${trash_id}/..`]) {
    expect(await typeOf(kit.files.restore(id))).toBe('TrashNotFound')
  }
  const note = kit.at(`.gatehouse-trash/${trash_id}/meta.json`)
  writeFileSync(note, JSON.stringify({ path: '../../escaped', deleted_at: 0 }))
  expect(await typeOf(kit.files.restore(trash_id))).toBe('PathOutOfScope')
  writeFileSync(note, JSON.stringify({ path: '.git/hooks/x', deleted_at: 0 }))
  expect(await typeOf(kit.files.restore(trash_id))).toBe('ProtectedPath')
})

test('keeps deleted things for seven days, then deletes them for good', async () => {
  using kit = open()
  kit.put('a/b', 'b')
  kit.put('c', 'c')
  const { trash_id } = await kit.files.trash('a', { recursive: true })
  kit.time.now += 6 * day
  await kit.files.trash('c', { recursive: false })
  kit.put('d', 'd')
  expect(existsSync(kit.at(`.gatehouse-trash/${trash_id}`))).toBe(true)
  kit.time.now += 2 * day
  const last = await kit.files.trash('d', { recursive: false })
  expect(await typeOf(kit.files.restore(trash_id))).toBe('TrashNotFound')
  expect(readdirSync(kit.at('.gatehouse-trash'))).toHaveLength(2)
  await kit.files.restore(last.trash_id)
  expect(kit.get('d')).toBe('d')
})

test('a trash that is a link is not followed', async () => {
  using kit = open()
  kit.put('x', 'x')
  const elsewhere = path.join(path.dirname(kit.root), 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, kit.at('.gatehouse-trash'))
  expect(await typeOf(kit.files.trash('x', { recursive: false }))).toBe('ProtectedPath')
  expect([kit.get('x'), readdirSync(elsewhere)]).toEqual(['x', []])
})

test('the workspace itself is never deleted or moved', async () => {
  using kit = open()
  kit.put('a/b/c', '')
  for (const p of ['.', kit.root, 'a/..']) {
    const facts = { path: p, detail: 'it is one of the folders given to the agent' }
    const refused = { type: 'ProtectedPath', facts }
    await expect(kit.files.trash(p, { recursive: true })).rejects.toMatchObject(refused)
    await expect(kit.files.move(p, 'moved', { overwrite: false })).rejects.toMatchObject(refused)
  }
  await expect(kit.files.trash('a/none', { recursive: true })).rejects.toMatchObject({
    ...{ type: 'FileNotFound', facts: { path: 'a/none' } },
  })
  await kit.files.trash('a/b/..', { recursive: true })
  expect((await kit.files.list('.')).entries).toEqual([])
})

test('walks depth first and by name, does not follow links, and skips what it is told to', async () => {
  using kit = open()
  for (const name of ['b/two', 'a/one', 'a/sub/x', 'c', '.git/config']) kit.put(name, name)
  symlinkSync('a', kit.at('loop'))
  const relative = (all: readonly { path: string }[]) =>
    all.map((e) => e.path.slice(kit.root.length + 1))
  const all = await gather(
    kit.files.walk('.', never, { enter: (folder) => folder.name !== '.git' }),
  )
  expect(relative(all)).toEqual([
    '.git',
    'a',
    'a/one',
    'a/sub',
    'a/sub/x',
    'b',
    'b/two',
    'c',
    'loop',
  ])
  expect(relative(await gather(kit.files.walk('loop', never)))).toEqual([
    'a/one',
    'a/sub',
    'a/sub/x',
  ])
  const stop = new AbortController()
  const seen: string[] = []
  for await (const { name } of kit.files.walk('.', stop.signal))
    if (seen.push(name) === 2) stop.abort()
  expect(seen).toEqual(['.git', 'config'])
})

/** What the descriptors of this process stand for. */
const openDescriptors = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })

test('leaves no descriptor open, whatever happens', async () => {
  using kit = open()
  kit.put('a/b/c', 'c')
  symlinkSync('/etc', kit.at('a/out'))
  // Of the process, others come and go meanwhile: those of the workspace and of what its link names.
  const ours = (target: string) =>
    target.startsWith(path.dirname(kit.root)) || target.startsWith('/etc')
  const count = () => openDescriptors().filter(ours).length
  const use = async () => {
    for (const p of ['a/b/c', 'a/b', 'a/none', 'a/out/passwd', '../x', 'a/b/c/d', '.git/x']) {
      await typeOf(kit.files.read(p, { bytesMax: 9 }))
      await typeOf(kit.files.list(p))
      await typeOf(kit.files.stat(p))
      await typeOf(kit.files.fingerprint(p))
      await typeOf(kit.files.copy('a/b/c', p, { overwrite: true }))
      await typeOf(kit.files.append(p, bytes('x')))
      await typeOf(kit.files.move(p, p, { overwrite: false }))
      for await (const _ of kit.files.walk('.', never)) break
    }
  }
  await use()
  const before = count()
  for (let i = 0; i < 5; i++) await use()
  expect(count()).toBe(before)
})

test('a fingerprint changes with every change of what stands there, and only then', async () => {
  using kit = open()
  kit.put('a', 'one')
  kit.put('dir/x', '')
  symlinkSync('a', kit.at('link'))
  const first = await kit.files.fingerprint('a')
  expect(await kit.files.fingerprint('a')).toEqual(first)
  expect(first).toMatchObject({ path: kit.at('a'), type: 'file', sha256: sha('one') })
  kit.put('a', 'two')
  expect(await kit.files.fingerprint('a')).not.toEqual(first)
  expect(await kit.files.fingerprint('link')).toMatchObject({ link: 'a', path: kit.at('a') })
  const none = await kit.files.fingerprint('none')
  expect(none).toMatchObject({ path: kit.at('none'), ino: null })
  kit.put('none', '')
  expect(await kit.files.fingerprint('none')).not.toEqual(none)
  const dir = await kit.files.fingerprint('dir')
  renameSync(kit.at('dir'), kit.at('was'))
  mkdirSync(kit.at('dir'))
  expect(await kit.files.fingerprint('dir')).not.toEqual(dir)
})

test('tells of what begins, changes and ends below a watched folder', async () => {
  using kit = open()
  kit.put('box/old', 'old')
  const told: string[] = []
  using _watching = await kit.files.watch('box', { recursive: true }, ({ kind, path: p }) =>
    told.push(`${kind} ${p.slice(kit.root.length + 1)}`),
  )
  await kit.files.write('box/new', bytes('1'), { createParents: false })
  await kit.files.write('box/sub/deep', bytes('1'), { createParents: true })
  await kit.files.write('box/old', bytes('changed'), { createParents: false })
  await expect
    .poll(() => told.toSorted())
    .toEqual(['changed box/old', 'created box/new', 'created box/sub', 'created box/sub/deep'])
  told.length = 0
  rmSync(kit.at('box/sub/deep'))
  await expect.poll(() => told).toEqual(['deleted box/sub/deep'])
})

test('tells nothing of a folder that was swapped for a link to the outside', async () => {
  using kit = open()
  kit.put('box/in', '')
  kit.put('box/sub/x', '')
  const out = path.join(path.dirname(kit.root), 'out')
  mkdirSync(out)
  const told: string[] = []
  using _watching = await kit.files.watch('box', { recursive: true }, (c) =>
    told.push(path.basename(c.path)),
  )
  renameSync(kit.at('box/sub'), path.join(path.dirname(kit.root), 'moved-out'))
  symlinkSync(out, kit.at('box/sub'))
  writeFileSync(path.join(out, 'secret-name'), '')
  writeFileSync(path.join(path.dirname(kit.root), 'moved-out', 'other-secret'), '')
  kit.put('box/marker', '')
  await expect.poll(() => told).toContain('marker')
  expect(told.filter((name) => name.includes('secret'))).toEqual([])
})

test('goes on telling of a folder that took the place of another', async () => {
  using kit = open()
  kit.put('box/sub/x', '')
  kit.put('fresh/y', '')
  const told: string[] = []
  using _watching = await kit.files.watch('box', { recursive: true }, (c) =>
    told.push(`${c.kind} ${path.basename(c.path)}`),
  )
  // Heard of first, and looked at when the other folder stands there.
  kit.put('box/sub/x', 'nor of this')
  renameSync(kit.at('box/sub'), kit.at('old'))
  renameSync(kit.at('fresh'), kit.at('box/sub'))
  await expect.poll(() => told).toContain('created y')
  kit.put('old/x', 'nobody is told of this')
  kit.put('box/sub/z', '')
  await expect.poll(() => told).toContain('created z')
  expect(told.filter((line) => line.endsWith(' x'))).toEqual([])
})

test('a watch of a file tells of that file alone, and of nothing once it is disposed', async () => {
  using kit = open()
  kit.put('a', '1')
  const told: string[] = []
  const watching = await kit.files.watch('a', { recursive: false }, (c) => told.push(c.kind))
  kit.put('b', 'other')
  kit.put('a', 'longer')
  await expect.poll(() => told).toEqual(['changed'])
  watching[Symbol.dispose]()
  using _control = await kit.files.watch('a', { recursive: false }, () => told.push('control'))
  kit.put('a', 'longer still')
  await expect.poll(() => told).toEqual(['changed', 'control'])
})

test('changed mounts take effect for the next call, and what is under way ends undisturbed', async () => {
  using kit = open({ mount: true })
  writeFileSync(`${kit.other}/big`, Buffer.alloc(2_000_000, 'x'))
  const reading = kit.files.read(`${kit.other}/big`, { bytesMax: 1 << 22 })
  const next = kit.factory.open({ ...kit.agent, mounts: [] })
  expect((await reading).bytes.length).toBe(2_000_000)
  expect(await typeOf(next.read(`${kit.other}/big`, { bytesMax: 9 }))).toBe('PathOutOfScope')
  expect(await typeOf(kit.files.read(`${kit.other}/big`, { bytesMax: 9 }))).toBe('PathOutOfScope')
  expect(kit.factory.open({ ...kit.agent, mounts: [] })).toBe(next)
})

test('a missing folder is named, with what the capability has for it', async () => {
  using kit = open()
  const bytes = Buffer.from('x')
  const told = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => null,
      (cause: unknown) => cause,
    )
    if (!(error instanceof GatehouseError)) throw new Error('it did not fail')
    return [error.type, error.message, error.recovery.map(({ action }) => action)]
  }
  const missing = (path: string, action: string) => [
    'FolderNotFound',
    `There is no folder no/way to put ${path} in.`,
    [action],
  ]
  expect(await told(kit.files.write('no/way/a', bytes, { createParents: false }))).toEqual(
    missing('no/way/a', 'create_parents'),
  )
  expect(await told(kit.files.makeDirectory('no/way/a', { parents: false }))).toEqual(
    missing('no/way/a', 'parents'),
  )
  expect(await told(kit.files.append('no/way/a', bytes))).toEqual(
    missing('no/way/a', 'filesystem.mkdir'),
  )
  kit.put('here', 'x')
  for (const work of ['copy', 'move'] as const)
    expect(await told(kit.files[work]('here', 'no/way/b', { overwrite: false }))).toEqual(
      missing('no/way/b', 'filesystem.mkdir'),
    )
})
