import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
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
import { FolderRules } from './folder-rules.ts'
import { isReserved, isTempName } from './names.ts'
import { Root } from './root.ts'

const rules = new FolderRules(null)
const faultOf = rules.workspaceFault.bind(rules)

type Mount = { readonly path: string; readonly read_only: boolean }
type Options = {
  readonly denyHardlinks?: boolean
  readonly descriptorPaths?: boolean
  readonly mounts?: (base: string) => readonly Mount[]
}

let made = 0
const ids = {
  next: (prefix: string) => `${prefix}-${String(made++).padStart(26, '0')}`,
  secret: () => Buffer.alloc(32),
}
const clock = { wall: () => Date.now(), now: () => Date.now() }

/** A workspace ROOT with a canary in OUT beside it. */
const open = (options: Options = {}) => {
  const base = mkdtempSync(path.join(tmpdir(), 'gatehouse-files-'))
  const root = path.join(base, 'ROOT')
  const out = path.join(base, 'OUT')
  mkdirSync(out)
  mkdirSync(path.join(base, 'ROOT-evil'))
  writeFileSync(path.join(out, 'canary'), 'CANARY-FS-1')
  writeFileSync(path.join(base, 'ROOT-evil', 'x'), 'CANARY-FS-2')
  const { denyHardlinks, descriptorPaths, mounts } = options
  const factory = createFilesFactory({
    ids,
    clock,
    ...(denyHardlinks === undefined ? {} : { denyHardlinks }),
    ...(descriptorPaths === undefined ? {} : { descriptorPaths }),
  })
  const open = () => factory.open({ name: 'alpha', workspace: root, mounts: mounts?.(base) ?? [] })
  let files: Files
  try {
    files = open()
  } catch (error) {
    rmSync(base, { recursive: true })
    throw error
  }
  const at = (name: string) => path.join(root, name)
  return {
    base,
    root,
    out,
    at,
    files,
    put: (name: string, text: string) => {
      mkdirSync(path.dirname(at(name)), { recursive: true })
      writeFileSync(at(name), text)
    },
    canary: () => readFileSync(path.join(out, 'canary'), 'utf8'),
    [Symbol.dispose]: () => {
      factory[Symbol.dispose]()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

const text = async (files: Files, name: string): Promise<string> =>
  (await files.read(name, { bytesMax: 1 << 20 })).bytes.toString()

const everyUse: readonly FileUse[] = [
  ...usesOfAny,
  ...usesOfFolders,
  ['mkdir', (f, p) => f.makeDirectory(p, { parents: true })],
]

const modes = process.platform === 'linux' ? [true, false] : [false]

for (const descriptorPaths of modes) {
  const how = descriptorPaths ? 'by descriptors' : 'by path and comparison'

  test.each(everyUse)(`%s refuses every way up and out, ${how} (F01, F02, F06)`, async (_, use) => {
    using kit = open({ descriptorPaths })
    kit.put('mine', 'mine')
    kit.put('a/b', 'b')
    const paths = [
      '../OUT/canary',
      'a/../../OUT/canary',
      `${kit.root}/../OUT/canary`,
      `${kit.root}-evil/x`,
      `${kit.out}/canary`,
      '/proc/self/environ',
      '/proc/self/fd/0',
      '/dev/fd/0',
      '..',
    ]
    for (const p of paths)
      expect([p, await outcome(() => use(kit.files, p))]).toEqual([p, 'PathOutOfScope'])
    expect(kit.canary()).toBe('CANARY-FS-1')
    expect(readFileSync(kit.at('mine'), 'utf8')).toBe('mine')
  })

  test.each(everyUse)(`%s refuses links that lead outside, ${how} (F03)`, async (_, use) => {
    using kit = open({ descriptorPaths })
    kit.put('mine', 'mine')
    kit.put('links/keep', '')
    symlinkSync(path.join(kit.out, 'canary'), kit.at('links/file'))
    symlinkSync('../../OUT/canary', kit.at('links/relative'))
    symlinkSync(kit.out, kit.at('links/folder'))
    symlinkSync('folder', kit.at('links/chained'))
    symlinkSync('/proc/self/environ', kit.at('links/environ'))
    const paths = [
      'links/file',
      'links/relative',
      'links/folder',
      'links/folder/canary',
      'links/chained/canary',
      'links/folder/new',
      'links/environ',
    ]
    for (const p of paths)
      expect([p, await outcome(() => use(kit.files, p))]).toEqual([p, 'PathOutOfScope'])
    expect(kit.canary()).toBe('CANARY-FS-1')
    expect(readdirSync(kit.out)).toEqual(['canary'])
    expect(readFileSync(kit.at('mine'), 'utf8')).toBe('mine')
  })

  test(`in-root links work, relative, absolute and chained, ${how} (F13)`, async () => {
    using kit = open({ descriptorPaths })
    kit.put('real/deep/file', 'inside')
    kit.put('other', 'other')
    symlinkSync('real/deep', kit.at('relative'))
    symlinkSync(kit.at('real/deep'), kit.at('absolute'))
    symlinkSync('relative', kit.at('chained'))
    symlinkSync('../deep/file', kit.at('real/deep/again'))
    expect(await text(kit.files, 'relative/file')).toBe('inside')
    expect(await text(kit.files, 'absolute/file')).toBe('inside')
    expect(await text(kit.files, 'chained/again')).toBe('inside')
    expect(await text(kit.files, 'chained/../../other')).toBe('other')
    expect(await text(kit.files, `${kit.root}/chained/file`)).toBe('inside')
    expect((await kit.files.list('chained')).entries.map((e) => e.name).toSorted()).toEqual([
      'again',
      'file',
    ])
    await kit.files.write('chained/again', Buffer.from('written'), { createParents: false })
    expect(readFileSync(kit.at('real/deep/file'), 'utf8')).toBe('written')
    expect((await kit.files.stat('relative'))?.type).toBe('symlink')
  })

  test(`a loop of links and a way out through a link are refused, ${how} (F13)`, async () => {
    using kit = open({ descriptorPaths })
    kit.put('real/file', '')
    symlinkSync('b', kit.at('a'))
    symlinkSync('a', kit.at('b'))
    symlinkSync('real', kit.at('link'))
    expect(await outcome(() => text(kit.files, 'a'))).toBe('InvalidPath')
    expect(await outcome(() => text(kit.files, 'a/x'))).toBe('InvalidPath')
    expect(await outcome(() => text(kit.files, 'link/../../OUT/canary'))).toBe('PathOutOfScope')
  })
}

test.each([
  '..%2f..%2fetc%2fpasswd',
  '....//x',
  '..\\..\\x',
  '~root',
  'file:///etc/passwd',
  'C:\\x',
])('takes %s for a plain name inside the root (F01)', async (name) => {
  using kit = open()
  expect(await outcome(() => text(kit.files, name))).toBe('FileNotFound')
  await kit.files.write(name, newBytes, { createParents: true })
  expect(await text(kit.files, name)).toBe('new')
  expect(existsSync(path.join(kit.base, 'x'))).toBe(false)
})

test('answers to FIFOs, sockets and devices at once, and reads go on beside them (F05)', async () => {
  using kit = open()
  kit.put('plain', 'plain')
  execFileSync('mkfifo', [kit.at('fifo')])
  const server = createServer().listen(kit.at('socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    const uses = everyUse.filter(([name]) =>
      ['read', 'write', 'append', 'copy from'].includes(name),
    )
    // The best of three: what waits for a peer waits each time, and a busy machine does not.
    const took: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      const started = performance.now()
      const asked = uses.flatMap(([, use]) =>
        ['fifo', 'fifo', 'socket'].map((p) => outcome(() => use(kit.files, p))),
      )
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['NotARegularFile']))
      expect(await text(kit.files, 'plain')).toBe('plain')
      took.push(performance.now() - started)
    }
    expect(Math.min(...took)).toBeLessThan(1_000)
  } finally {
    server.close()
  }
})

test.each([
  '.git/config',
  '.git/hooks/x',
  '.GIT/config',
  '.git./config',
  '.git /config',
  '.g\u200cit/config',
  '\ufeff.git/config',
  'git~1/config',
  'GIT~1',
  'git~12',
  '.git::$INDEX_ALLOCATION/config',
  '.git',
  'sub/.git/config',
  'alias/config',
])('never writes %j (F07)', async (name) => {
  using kit = open()
  kit.put('mine', 'mine')
  kit.put('folder/x', '')
  kit.put('.git/config', 'before')
  symlinkSync('.git', kit.at('alias'))
  const uses: (() => unknown)[] = [
    () => kit.files.write(name, newBytes, { createParents: true }),
    () => kit.files.append(name, newBytes),
    () => kit.files.copy('mine', name, { overwrite: true }),
    () => kit.files.move('folder', name, { overwrite: true }),
    () => kit.files.makeDirectory(name, { parents: true }),
    () => kit.files.trash(name, { recursive: true }),
  ]
  for (const use of uses) expect(await outcome(use)).toBe('ProtectedPath')
  expect(readFileSync(kit.at('.git/config'), 'utf8')).toBe('before')
  expect(await text(kit.files, '.git/config')).toBe('before')
})

test.each(['.gitignore', '.github/workflows/x.yml', 'git', 'digit~1', '.gitx', 'ggit~1', 'git~1x'])(
  'writes %s, which only looks like it (F07)',
  async (name) => {
    using kit = open()
    await kit.files.write(name, newBytes, { createParents: true })
    expect(await text(kit.files, name)).toBe('new')
  },
)

test('refuses what no path can be, with a type (F11)', async () => {
  using kit = open()
  const long = 'n'.repeat(256)
  const paths = [
    '',
    'a\0b',
    long,
    `${'é'.repeat(128)}`,
    'p/'.repeat(2_501),
    'a/'.repeat(65),
    '\ud800',
  ]
  for (const p of paths)
    expect([p, await outcome(() => text(kit.files, p))]).toEqual([p, 'InvalidPath'])
  for (const p of ['n'.repeat(255), 'line\nbreak', 'red\u001b[31m', 'é'.repeat(127)]) {
    await kit.files.write(p, newBytes, { createParents: false })
    expect((await kit.files.list('.')).entries.some((entry) => entry.name === p)).toBe(true)
  }
})

test('leaves the other name of a hard link alone (F12)', async () => {
  using kit = open()
  linkSync(path.join(kit.out, 'canary'), kit.at('linked'))
  linkSync(path.join(kit.out, 'canary'), kit.at('linked-too'))
  await kit.files.write('linked', newBytes, { createParents: false })
  expect(await kit.files.append('linked-too', newBytes)).toMatchObject({ size_bytes: 14 })
  expect(kit.canary()).toBe('CANARY-FS-1')
  expect(await text(kit.files, 'linked-too')).toBe('CANARY-FS-1new')
})

test('refuses files with several names where told to, and only those (F12)', async () => {
  using kit = open({ denyHardlinks: true })
  kit.put('single', 'single')
  linkSync(path.join(kit.out, 'canary'), kit.at('linked'))
  expect(await outcome(() => text(kit.files, 'linked'))).toBe('TooManyLinks')
  expect(await outcome(() => kit.files.append('linked', newBytes))).toBe('TooManyLinks')
  const [copying, replacing] = [{ overwrite: false }, { createParents: false }]
  expect(await outcome(() => kit.files.write('linked', newBytes, replacing))).toBe('TooManyLinks')
  expect(await outcome(() => kit.files.copy('linked', 'copy', copying))).toBe('TooManyLinks')
  expect(await outcome(() => kit.files.move('linked', 'moved', copying))).toBe('TooManyLinks')
  kit.put('tree/sub/own', 'own')
  linkSync(path.join(kit.out, 'canary'), kit.at('tree/sub/linked'))
  expect(await outcome(() => kit.files.copy('tree', 'copied', copying))).toBe('TooManyLinks')
  expect(kit.canary()).toBe('CANARY-FS-1')
  expect(await text(kit.files, 'single')).toBe('single')
})

test('keeps a read-only mount read-only, whatever name leads into it', async () => {
  const mounts = (base: string) => [
    { path: path.join(base, 'ROOT/docs'), read_only: true },
    { path: path.join(base, 'ROOT-evil'), read_only: false },
  ]
  using kit = open({ mounts })
  kit.put('docs/page', 'page')
  symlinkSync('docs', kit.at('alias'))
  const { files } = kit
  // It was not there yet when the folders were opened.
  for (const p of ['docs/page', 'alias/page', `${kit.root}/docs/page`]) {
    expect(await text(files, p)).toBe('page')
    expect(await outcome(() => files.write(p, newBytes, { createParents: false }))).toBe(
      'ReadOnlyRoot',
    )
    expect(await outcome(() => files.trash(p, { recursive: true }))).toBe('ReadOnlyRoot')
  }
  expect(await outcome(() => files.move('docs', 'moved', { overwrite: false }))).toBe(
    'ProtectedPath',
  )
  // A sibling with the same beginning is another mount, with its own rules.
  await files.write(`${kit.root}-evil/y`, newBytes, { createParents: false })
  expect(await text(files, `${kit.root}-evil/y`)).toBe('new')
})

test.each([
  ['by a link', 'ROOT', 'given'],
  ['by its real path, and the workspace by a link', 'work', 'ROOT/a/docs'],
  ['by a link, and the workspace too', 'work', 'given'],
  ['by its path in the workspace', 'ROOT', 'ROOT/a/docs'],
])(
  'a folder that is read-only inside the workspace stays so, given %s',
  async (_how, work, given) => {
    const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'gatehouse-files-')))
    const at = (name: string) => path.join(base, name)
    mkdirSync(at('ROOT/a/docs/b'), { recursive: true })
    mkdirSync(at('ROOT/a/plain'))
    symlinkSync('ROOT/a/docs', at('given'))
    symlinkSync('ROOT', at('work'))
    using factory = createFilesFactory({ ids, clock })
    onTestFinished(() => rmSync(base, { recursive: true }))
    const agent = {
      ...{ name: 'alpha', workspace: at(work) },
      mounts: [{ path: at(given), read_only: true }],
    }
    const reach = {
      permits: ({ absolute }: Told) => absolute !== `${at(given)}/b`,
      reads: () => true,
      writes: () => true,
    }
    const files = factory.open(agent)
    const writing = () => files.write('a/docs/b/x', newBytes, { createParents: false })
    expect(await outcome(writing)).toBe('ReadOnlyRoot')
    for (const holder of ['a', 'a/docs']) {
      const moving = () => files.move(holder, 'moved', { overwrite: false })
      const deleting = () => files.trash(holder, { recursive: true })
      expect([await outcome(moving), await outcome(deleting)]).toEqual(
        Array(2).fill('ProtectedPath'),
      )
    }
    // Programs get it read-only at the place where they see it.
    for (const held of ['.', 'a', 'a/plain']) {
      using folder = files.pin(held, { writable: true })
      const inner = held === 'a/plain' ? [] : [{ path: at(`${work}/a/docs`), read_only: true }]
      expect(folder.inner).toMatchObject(inner)
    }
    expect(await outcome(async () => files.pin('a/docs', { writable: true }))).toBe('ReadOnlyRoot')
    // Policy is asked by the path that it was given under.
    const asking = factory.open(agent, reach)
    expect((await asking.list('a/docs')).entries).toEqual([])
    expect(await outcome(() => asking.list('a/docs/b'))).toBe('PathNotPermitted')
    expect(await outcome(() => asking.copy('a', 'copied', { overwrite: false }))).toBe(
      'PathNotPermitted',
    )
    const found: string[] = []
    for await (const { relative } of asking.walk('a', new AbortController().signal))
      found.push(relative)
    expect(found).toEqual(['docs', 'plain'])
  },
)

test('a folder inside the workspace keeps its rules when it is deleted and made anew', async () => {
  const mounts = (base: string) => [{ path: path.join(base, 'ROOT/docs'), read_only: true }]
  using kit = open({ mounts })
  const { files } = kit
  kit.put('docs/page', 'page')
  expect(await text(files, 'docs/page')).toBe('page')
  rmSync(kit.at('docs'), { recursive: true })
  kit.put('docs/page', 'again')
  await expect(files.trash('docs', { recursive: true })).rejects.toMatchObject({
    type: 'ProtectedPath',
    facts: { path: 'docs', detail: 'it is, or holds, one of the folders given to the agent' },
  })
  expect(await outcome(async () => files.pin('docs', { writable: true }))).toBe('ReadOnlyRoot')
  const writing = () => files.write('docs/page', newBytes, { createParents: false })
  expect(await outcome(writing)).toBe('ReadOnlyRoot')
  expect(await text(files, 'docs/page')).toBe('again')
  // It is the same folder wherever somebody moves it.
  renameSync(kit.at('docs'), kit.at('moved'))
  const moved = () => files.write('moved/page', newBytes, { createParents: false })
  expect(await outcome(moved)).toBe('ReadOnlyRoot')
})

test('a link that an agent puts where a folder is to be does not become its folder', async () => {
  const mounts = (base: string) => [
    { path: path.join(base, 'ROOT/data'), read_only: false },
    { path: path.join(base, 'ROOT/link/data'), read_only: false },
  ]
  using kit = open({ mounts })
  for (const name of ['data', 'link']) {
    symlinkSync(kit.out, kit.at(name))
    const reading = () => text(kit.files, `${kit.at(name === 'data' ? name : 'link/data')}/canary`)
    expect(await outcome(reading)).toBe('InvalidConfiguration')
  }
  mkdirSync(path.join(kit.out, 'data'))
  writeFileSync(path.join(kit.out, 'data/canary'), 'CANARY-FS-3')
  const reading = () => text(kit.files, `${kit.at('link/data')}/canary`)
  expect(await outcome(reading)).toBe('InvalidConfiguration')
  using factory = createFilesFactory({ ids, clock })
  const before = readdirSync('/proc/self/fd').length
  expect(() =>
    factory.open({ name: 'alpha', workspace: kit.root, mounts: mounts(kit.base) }),
  ).toThrow(/data: a link in .*ROOT leads to it/)
  expect(readdirSync('/proc/self/fd').length).toBe(before)
  // What agents can't write they put no link in.
  const given = [kit.out, path.join(kit.out, 'linked')]
  symlinkSync(kit.at('.'), path.join(kit.out, 'linked'))
  using other = createFilesFactory({ ids, clock })
  const shelf = other.open({
    ...{ name: 'beta', workspace: path.join(kit.base, 'ROOT-evil') },
    mounts: given.map((folder) => ({ path: folder, read_only: true })),
  })
  expect((await shelf.list(path.join(kit.out, 'linked'))).entries.length).toBeGreaterThan(0)
  rmSync(kit.at('data'))
  mkdirSync(kit.at('data'))
  kit.put('data/x', 'inside')
  expect(await text(kit.files, 'data/x')).toBe('inside')
})

test('takes nothing that another device brings into a folder', () => {
  using kit = open()
  const root = new Root({ path: kit.root, readOnly: false, make: false, faultOf }, false)
  const own = openSync(kit.root, 'r')
  const foreign = openSync('/proc', 'r')
  onTestFinished(() => {
    for (const fd of [own, foreign]) closeSync(fd)
    root.close()
  })
  const look = (fd: number) => root.assertSameMount(fd, fstatSync(fd).dev, 'sub')
  expect(() => look(own)).not.toThrow()
  // An overlay tells its files under device numbers that its folders do not have.
  expect(() => root.assertSameMount(own, fstatSync(own).dev + 1, 'sub')).not.toThrow()
  expect(() => look(foreign)).toThrow(/another device is mounted there/)
})

test.each(['/proc', '/proc/self/fd', '/sys/kernel', '/dev/shm', '/', 'relative', '/srv/../etc'])(
  'refuses to give %s to an agent',
  (folder) => {
    const before = readdirSync('/proc/self/fd').length
    expect(() => open({ mounts: () => [{ path: folder, read_only: true }] })).toThrow(
      GatehouseError,
    )
    expect(readdirSync('/proc/self/fd').length).toBe(before)
  },
)

test('a mount that leads into the system is refused, one that is not there yet is waited for', async () => {
  expect(() =>
    open({
      mounts: (base) => {
        symlinkSync('/proc', path.join(base, 'sly'))
        return [{ path: path.join(base, 'sly'), read_only: true }]
      },
    }),
  ).toThrow(/leads into the system/)
  using kit = open({ mounts: (base) => [{ path: path.join(base, 'later'), read_only: false }] })
  const later = path.join(kit.base, 'later')
  expect(await outcome(() => text(kit.files, `${later}/x`))).toBe('FileNotFound')
  mkdirSync(later)
  writeFileSync(path.join(later, 'x'), 'there')
  expect(await text(kit.files, `${later}/x`)).toBe('there')
})

test('a mount whose link leads to the data of the service by now is refused, and what holds it', async () => {
  using kit = open()
  const at = (name: string) => path.join(kit.base, name)
  mkdirSync(at('OUT/data/policies'), { recursive: true })
  symlinkSync(at('OUT/data'), at('own'))
  symlinkSync(at('ROOT-evil'), at('given'))
  const filesOf = (factory: ReturnType<typeof createFilesFactory>) =>
    factory.open({
      ...{ name: 'alpha', workspace: at('OUT/data/workspace') },
      mounts: [{ path: at('given'), read_only: true }],
    })
  {
    using factory = createFilesFactory({ ids, clock, own: at('own') })
    expect(await text(filesOf(factory), `${at('given')}/x`)).toBe('CANARY-FS-2')
  }
  for (const target of ['OUT/data/policies', 'OUT/data', 'OUT']) {
    rmSync(at('given'))
    symlinkSync(at(target), at('given'))
    using factory = createFilesFactory({ ids, clock, own: at('own') })
    expect(() => filesOf(factory)).toThrow(/given: it leads to the data of the service itself/)
  }
})

test('finds a workspace again that was deleted and made anew', async () => {
  using kit = open()
  kit.put('a', 'one')
  expect(await text(kit.files, 'a')).toBe('one')
  rmSync(kit.root, { recursive: true })
  kit.put('a', 'two')
  expect(await text(kit.files, 'a')).toBe('two')
  rmSync(kit.root, { recursive: true })
  mkdirSync(kit.root)
  await kit.files.write('b', newBytes, { createParents: false })
  expect(readFileSync(kit.at('b'), 'utf8')).toBe('new')
})

test('goes through eight links and sixty-four folders, and no further by a link either (F11, F13)', async () => {
  using kit = open()
  kit.put('link0', 'here')
  for (let i = 1; i <= 9; i++) symlinkSync(`link${i - 1}`, kit.at(`link${i}`))
  expect(await text(kit.files, 'link8')).toBe('here')
  expect(await outcome(() => text(kit.files, 'link9'))).toBe('InvalidPath')
  const half = 'd/'.repeat(32)
  kit.put(`${half}${half}file`, 'deep')
  kit.put(`${half}${half}d/file`, 'deeper')
  symlinkSync(half, kit.at('half'))
  expect(await text(kit.files, `half/${half}file`)).toBe('deep')
  expect(await outcome(() => text(kit.files, `half/${half}d/file`))).toBe('InvalidPath')
  expect(await outcome(() => text(kit.files, `${half}${half}file`))).toBe('InvalidPath')
  kit.put(`${half}${'d/'.repeat(31)}file`, 'at the limit')
  expect(await text(kit.files, `${half}${'d/'.repeat(31)}file`)).toBe('at the limit')
})

test.each([
  ...['.gatehouse-trash', '.Gatehouse-Trash. ', '.gate\u200chouse-trash', '.gatehouse-trash:x'],
  ...['\uff0egatehouse-trash', 'gateho~1', 'GATEHO~12', '.gh-0123-0z-0123456789abcdef'],
])('keeps %j for the service', (name) => {
  expect(isReserved(name)).toBe(true)
})

test.each([
  ...['.gatehouse', '.gatehouse-trash2', 'a.gatehouse-trash', 'gateho~', 'gateho~1x', 'ggateho~1'],
  ...[
    '.gh-',
    '.gh-0123-0z-0123456789abcdef0',
    'x.gh-0123-0z-0123456789abcdef',
    '.gh-x',
    '.gh-.gh-0123-0z-0123456789abcdef',
  ],
])('leaves %j to the agent', (name) => {
  expect([isReserved(name), isTempName(name)]).toEqual([false, false])
})
