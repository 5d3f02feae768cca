import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { expect, onTestFinished, test } from 'vitest'
import { Dir, mountOf } from './dir.ts'
import { FolderRules } from './folder-rules.ts'
import { assertPath, componentsOf } from './paths.ts'
import { isMissing, type Parents, walkToPlace } from './place-walk.ts'
import { Root } from './root.ts'
import { Roots } from './roots.ts'
import { walkTo } from './walk.ts'

const rules = new FolderRules(null)
const faultOf = rules.workspaceFault.bind(rules)

const why = (step: () => unknown): string => {
  try {
    step()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('a path is told why it is none, and taken at the very limit', () => {
  const refused = (path: string) => why(() => assertPath(path))
  expect(refused('')).toContain('it is empty; "." is your workspace')
  expect(refused('a\0b')).toContain('it holds a NUL')
  expect(refused('a\ud800')).toContain('it is not well-formed Unicode')
  for (const long of ['a'.repeat(4_097), 'é'.repeat(2_049)])
    expect(refused(long)).toContain('it has more than 4096 bytes')
  for (const path of ['a'.repeat(4_096), 'é'.repeat(2_048), 'a\\b', 'c:d', ' ', '\n'])
    expect(refused(path)).toBe('')
})

test('a path is split at its slashes, and nothing else is taken from it but dots', () => {
  expect(componentsOf('/a//b/./..c/.d/')).toEqual(['a', 'b', '..c', '.d'])
  expect(componentsOf('../a/..')).toEqual(['..', 'a', '..'])
  for (const empty of ['', '.', '/', './/.']) expect(componentsOf(empty)).toEqual([])
  for (const name of ['n'.repeat(255), 'é'.repeat(127), '€'.repeat(85)])
    expect(componentsOf(`a/${name}`)).toEqual(['a', name])
  for (const name of ['n'.repeat(256), 'é'.repeat(128), '€'.repeat(86)])
    expect(why(() => componentsOf(`a/${name}`))).toContain('a name in it has more than 255 bytes')
  expect(componentsOf('d/'.repeat(64))).toHaveLength(64)
  expect(why(() => componentsOf('d/'.repeat(65)))).toContain('it is more than 64 folders deep')
})

const base = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-roots-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
const root = (path: string, options: { readOnly?: boolean; make?: boolean } = {}): Root => {
  const made = new Root({ path, readOnly: false, make: false, faultOf, ...options }, false)
  onTestFinished(() => made.close())
  return made
}

test.each([
  ['relative', 'is an absolute path'],
  ['/srv/../etc', 'has no ".."'],
  ['/', 'the whole file system'],
  ['/./', 'the whole file system'],
  ['/proc', 'part of the system itself'],
  ['/proc/self/fd', 'part of the system itself'],
  ['/sys/kernel', 'part of the system itself'],
  ['/dev//shm', 'part of the system itself'],
])('%s is not given to an agent, and the refusal says why', (path, reason) => {
  expect(() => root(path)).toThrow(
    expect.objectContaining({
      type: 'InvalidConfiguration',
      facts: { origin: path, detail: expect.stringContaining(reason) as string },
    }),
  )
})

test.each(['/', '/proc', '/sys', '/dev/shm'])('a link to %s is not given either', (target) => {
  const link = join(base(), 'link')
  symlinkSync(target, link)
  expect(() => root(link)).toThrow(
    expect.objectContaining({
      type: 'InvalidConfiguration',
      facts: { origin: link, detail: 'it leads into the system itself' },
    }),
  )
})

test('a folder is made for its owner alone, with those above it, where it is asked for', () => {
  const folder = join(base(), 'a/b')
  expect(root(`${folder}/`, { make: true }).path).toBe(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const other = join(base(), 'none')
  expect(root(other).path).toBe(other)
  expect(existsSync(other)).toBe(false)
})

test('a folder given by a link is known by both of its paths', () => {
  const folder = base()
  mkdirSync(join(folder, 'real'))
  symlinkSync('real', join(folder, 'link'))
  const given = root(join(folder, 'link'))
  const roots = Roots.of(given)
  for (const path of ['link/a', 'real/a'])
    expect(roots.spot(join(folder, path))).toEqual({ root: given, components: ['a'] })
  expect(given.path).toBe(join(folder, 'link'))
  expect(why(() => roots.spot(join(folder, 'other')))).toContain('outside')
  expect(root(join(folder, 'real')).spellings).toHaveLength(1)
})

test('a path belongs to the innermost folder that it names, component by component', () => {
  const folder = base()
  for (const name of ['work/inner', 'work-evil']) mkdirSync(join(folder, name), { recursive: true })
  const work = root(join(folder, 'work'))
  const inner = root(join(folder, 'work/inner'), { readOnly: true })
  for (const roots of [Roots.of(work, inner), Roots.of(inner, work)]) {
    const under = (path: string) => roots.under(componentsOf(join(folder, path)))
    expect(under('work/a/b')).toEqual({ root: work, components: ['a', 'b'] })
    expect(under('work/inner/b')).toEqual({ root: inner, components: ['b'] })
    expect(under('work/inner')).toEqual({ root: inner, components: [] })
    expect(under('work')).toEqual({ root: work, components: [] })
    expect(under('work-evil/a')).toBeNull()
    expect(under('.')).toBeNull()
  }
  expect([work.inner, inner.inner]).toEqual([[inner], []])
  expect([work.readOnly, inner.readOnly]).toEqual([false, true])
})

test('a folder inside another is one by either of its paths, and keeps its own rules', () => {
  const folder = base()
  mkdirSync(join(folder, 'work/inner'), { recursive: true })
  symlinkSync('work/inner', join(folder, 'alias'))
  const work = root(join(folder, 'work'))
  const inner = root(join(folder, 'alias'), { readOnly: true })
  const roots = Roots.of(work, inner)
  expect(work.inner).toEqual([inner])
  expect(why(() => walkTo(roots, 'inner/a', 'write'))).toContain('read-only')
  using walk = walkTo(roots, 'inner/a', 'read')
  expect(walk.root).toBe(inner)
})

test('a folder that was exchanged for another since it was opened is not taken for it', () => {
  const folder = base()
  for (const name of ['work/inner', 'work/other'])
    mkdirSync(join(folder, name), { recursive: true })
  const [work, inner] = [root(join(folder, 'work')), root(join(folder, 'work/inner'))]
  expect(Roots.of(work, inner).all).toEqual([work, inner])
  renameSync(join(folder, 'work/inner'), join(folder, 'work/old'))
  renameSync(join(folder, 'work/other'), join(folder, 'work/inner'))
  expect(why(() => Roots.of(work, inner))).toContain('which the agent can change')
})

test('a folder that is known by its path is only itself, and no link in its place', () => {
  const folder = base()
  const at = (name: string) => join(folder, name)
  mkdirSync(at('a/b'), { recursive: true })
  const dir = Dir.open(at('a'), true)
  onTestFinished(() => dir.close())
  expect([dir.holds(), dir.device()]).toEqual([true, statSync(folder).dev])
  const again = dir.again()
  expect([again.at, again.holds()]).toEqual([`${at('a')}/`, true])
  again.close()
  renameSync(at('a'), at('moved'))
  expect(dir.holds()).toBe(false)
  symlinkSync('moved', at('a'))
  expect(dir.holds()).toBe(false)
  expect(why(() => dir.again())).toMatch(/ENOTDIR|ELOOP/)
})

test('the mount of a file is told by the system, and of none where nothing is open', () => {
  const folder = base()
  const [one, other] = [Dir.open(folder, false), Dir.open('/proc', false)]
  expect(mountOf(one.fd)).toMatch(/^\d+$/)
  expect(mountOf(other.fd)).not.toBe(mountOf(one.fd))
  for (const dir of [one, other]) dir.close()
  expect(mountOf(1_000_000)).toBeNull()
})

test('a folder right below the root of the file system is one too', () => {
  const tmp = root('/tmp')
  expect(Roots.of(tmp).under(['tmp', 'a'])).toEqual({ root: tmp, components: ['a'] })
})

test('a place is told relative to the workspace, and absolute where it lies elsewhere', () => {
  const folder = base()
  for (const name of ['work', 'mount']) mkdirSync(join(folder, name))
  const roots = Roots.of(root(join(folder, 'work')), root(join(folder, 'mount')))
  const told = (path: string) => roots.told(join(folder, path)).relative
  expect([told('work'), told('work/a/b')]).toEqual(['.', 'a/b'])
  for (const path of ['work-evil/a', 'mount', 'mount/a'])
    expect(told(path)).toBe(join(folder, path))
  expect(roots.resolve('a/./b/../c')).toBe(join(folder, 'work/a/c'))
  expect(roots.resolve('.')).toBe(join(folder, 'work'))
  expect(roots.resolve(join(folder, 'mount/a'))).toBe(join(folder, 'mount/a'))
  for (const path of ['..', 'a/../..', `${folder}/mount/../work`, '/etc'])
    expect(() => roots.resolve(path)).toThrow(
      expect.objectContaining({ type: 'PathOutOfScope', facts: { path } }),
    )
})

test('a folder that was deleted is opened anew once it is there again, unless it was closed', () => {
  const folder = join(base(), 'work')
  mkdirSync(folder)
  const given = root(folder)
  const roots = Roots.of(given)
  expect(roots.revive()).toBe(false)
  rmSync(folder, { recursive: true })
  expect([roots.revive(), roots.revive()]).toEqual([false, false])
  expect(() => given.dir).toThrow('ENOENT')
  mkdirSync(folder)
  expect(given.dir.holds()).toBe(true)
  expect(roots.revive()).toBe(false)
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  mkdirSync(join(folder, 'new'))
  expect(roots.revive()).toBe(true)
  expect(readdirSync(given.dir.at)).toEqual(['new'])
  const { dev, ino } = statSync(folder)
  expect([given.dev, given.identity]).toEqual([dev, `${dev}:${ino}`])
  roots.close()
  expect(roots.revive()).toBe(false)
  expect(() => given.dir).toThrow(
    expect.objectContaining({ type: 'PathOutOfScope', facts: { path: folder } }),
  )
})

test('a folder that is missing on the way is named, with what makes it', () => {
  const folder = base()
  const roots = Roots.of(root(folder))
  const refusal = (path: string, parents: Parents | null): GatehouseError => {
    try {
      walkToPlace(roots, path, { parents })[Symbol.dispose]()
    } catch (error) {
      if (error instanceof GatehouseError) return error
    }
    return expect.fail('not refused')
  }
  const parents = { option: 'create_parents', make: false }
  const asked = refusal('a/b/c', parents)
  expect(asked).toMatchObject({
    type: 'FolderNotFound',
    facts: { path: 'a/b/c', folder: 'a/b' },
    cause: { type: 'FileNotFound' },
    recovery: [
      {
        action: 'create_parents',
        description: 'Set create_parents to true: the folders on the way are then made as well.',
      },
    ],
  })
  const plain = refusal('a/b/c', null)
  expect(plain).toMatchObject({ type: 'FolderNotFound', facts: { path: 'a/b/c', folder: 'a/b' } })
  expect(JSON.stringify(plain.recovery)).not.toContain('create_parents')
  expect(existsSync(join(folder, 'a'))).toBe(false)
  expect(refusal('../a', parents).type).toBe('PathOutOfScope')
  {
    using walk = walkToPlace(roots, 'a/b/c', { parents: { ...parents, make: true } })
    expect(walk.path).toBe(join(folder, 'a/b/c'))
  }
  expect(readdirSync(join(folder, 'a'))).toEqual(['b'])
  const [there, elsewhere] = [refusal('x/y', null), refusal('../a', null)]
  expect([isMissing(there), isMissing(there.cause), isMissing(elsewhere)]).toEqual([
    ...[true, true, false],
  ])
  expect(isMissing(new Error('FileNotFound'))).toBe(false)
})
