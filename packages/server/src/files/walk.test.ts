import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { expect, onTestFinished, test } from 'vitest'
import { FolderRules } from './folder-rules.ts'
import { statPath } from './look.ts'
import { openFile } from './open.ts'
import { Root } from './root.ts'
import { Roots } from './roots.ts'
import { type Intent, walkTo } from './walk.ts'

const rules = new FolderRules(null)
const faultOf = rules.workspaceFault.bind(rules)

type Mount = { readonly name: string; readonly readOnly: boolean }

const open = (byPath = false, mounts: readonly Mount[] = []) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-walk-')))
  const at = (name: string) => join(base, name)
  mkdirSync(at('work'))
  for (const { name } of mounts) mkdirSync(at(name), { recursive: true })
  const root = ({ name, readOnly }: Mount) =>
    new Root({ path: at(name), readOnly, make: false, faultOf }, byPath)
  const workspace = root({ name: 'work', readOnly: false })
  const others = mounts.map(root)
  const all = [workspace, ...others]
  onTestFinished(() => {
    for (const root of all) root.close()
    rmSync(base, { recursive: true })
  })
  return { at, roots: Roots.of(workspace, ...others), all }
}

const refusal = (step: () => unknown): GatehouseError => {
  try {
    step()
  } catch (error) {
    if (error instanceof GatehouseError) return error
    throw error
  }
  return expect.fail('not refused')
}
const refused = (roots: Roots, path: string, intent: Intent = 'read') => {
  const { type, facts } = refusal(() => walkTo(roots, path, intent)[Symbol.dispose]())
  return { type, ...facts }
}
const ways = [
  ['by descriptors', false],
  ['by paths', true],
] as const

test.each(ways)('a walk stands in the folder that holds the name, %s', (_way, byPath) => {
  const { at, roots } = open(byPath)
  mkdirSync(at('work/a/b'), { recursive: true })
  const look = (path: string) => {
    using walk = walkTo(roots, path, 'read')
    return [walk.path, walk.names, walk.leaf, walk.at === walk.dir.at + (walk.leaf ?? '')]
  }
  expect(look('a/b/c')).toEqual([at('work/a/b/c'), ['a', 'b', 'c'], 'c', true])
  expect(look('a/b/..')).toEqual([at('work/a'), ['a'], null, true])
  expect(look('.')).toEqual([at('work'), [], null, true])
  expect(look('a/../x')).toEqual([at('work/x'), ['x'], 'x', true])
})

test('a path that ends in two dots names the folder that it leads to, and no root', () => {
  const { at, roots } = open()
  mkdirSync(at('work/a/b'), { recursive: true })
  using walk = walkTo(roots, 'a/b/..', 'read')
  expect([walk.asEntry(), walk.asEntry(), walk.path]).toEqual(['a', 'a', at('work/a')])
  expect(readdirSync(walk.dir.at)).toEqual(['a'])
  using plain = walkTo(roots, 'a/b', 'read')
  expect(plain.asEntry()).toBe('b')
  for (const path of ['.', 'a/..', 'a/b/../..']) {
    using whole = walkTo(roots, path, 'read')
    expect(refusal(() => whole.asEntry())).toMatchObject({
      type: 'ProtectedPath',
      facts: { path, detail: 'it is one of the folders given to the agent' },
    })
    expect(whole.followLeaf()).toBe(false)
  }
})

test('each refusal names the path as it was written, and why', () => {
  const { at, roots } = open(false, [{ name: 'kept', readOnly: true }])
  mkdirSync(at('work/d'))
  writeFileSync(at('work/file'), '')
  writeFileSync(at('work/x'), '')
  symlinkSync('/etc', at('work/out'))
  symlinkSync('loop', at('work/loop'))
  symlinkSync('d/'.repeat(40), at('work/deep'))
  mkdirSync(at(`work/${'d/'.repeat(70)}`), { recursive: true })
  const kept = 'the name is kept for the service itself'
  const git = 'what git keeps about a repository is changed by the git capabilities only'
  for (const path of ['.gatehouse-trash/a', '.gh-0123-0z-0123456789abcdef', 'd/.Gatehouse-trash'])
    expect(refused(roots, path)).toEqual({ type: 'ProtectedPath', path, detail: kept })
  for (const path of ['.git/config', 'd/.GIT'])
    expect(refused(roots, path, 'write')).toEqual({ type: 'ProtectedPath', path, detail: git })
  for (const path of ['..', 'd/../../x', 'out/passwd'])
    expect(refused(roots, path)).toEqual({ type: 'PathOutOfScope', path })
  expect(refused(roots, at('kept/a'), 'write')).toEqual({
    ...{ type: 'ReadOnlyRoot', path: at('kept/a') },
  })
  // A name below a file is no other name beside it.
  expect(refused(roots, 'file/x')).toEqual({ type: 'NotADirectory', path: 'file/x' })
  expect(refused(roots, 'loop/x')).toEqual({
    ...{ type: 'InvalidPath', detail: 'it goes through more than 8 links' },
  })
  expect(refused(roots, `deep/${'d/'.repeat(30)}x`)).toEqual({
    ...{ type: 'InvalidPath', detail: 'it is more than 64 folders deep' },
  })
})

test('no folder is made on the way unless it is asked for', () => {
  const { at, roots } = open()
  for (const intent of ['read', 'write'] as const)
    expect(refused(roots, 'none/a', intent).type).toBe('FileNotFound')
  expect(readdirSync(at('work'))).toEqual([])
  using walk = walkTo(roots, 'none/a', 'write', { makeFolders: true })
  expect([walk.path, readdirSync(at('work'))]).toEqual([at('work/none/a'), ['none']])
})

test.each(ways)('a link into another folder of the agent goes on there, %s', (_way, byPath) => {
  const { at, roots, all } = open(byPath, [{ name: 'mount', readOnly: true }])
  for (const name of ['work/a/b', 'mount/c/d']) mkdirSync(at(name), { recursive: true })
  symlinkSync(at('mount/c'), at('work/a/b/link'))
  using walk = walkTo(roots, 'a/b/link/d/x', 'read')
  expect([walk.root, walk.path, walk.names]).toEqual([
    ...[all[1], at('mount/c/d/x'), ['c', 'd', 'x']],
  ])
  using last = walkTo(roots, 'a/b/link', 'read')
  expect([last.path, last.followLeaf(), last.path]).toEqual([
    ...[at('work/a/b/link'), true, at('mount/c')],
  ])
  expect(refused(roots, 'a/b/link/d/x', 'write')).toEqual({
    ...{ type: 'ReadOnlyRoot', path: 'a/b/link/d/x' },
  })
  // Out of that folder leads nothing back to where the link stands.
  expect(refused(roots, 'a/b/link/../../x').type).toBe('PathOutOfScope')
})

test.each(ways)('of folders inside another each keeps its own rules, %s', (_way, byPath) => {
  const mounts = [
    { name: 'work/read', readOnly: true },
    { name: 'work/written', readOnly: false },
  ]
  const { at, roots, all } = open(byPath, mounts)
  mkdirSync(at('work/plain/read'), { recursive: true })
  const rootOf = (path: string) => {
    using walk = walkTo(roots, path, 'write')
    return [all.indexOf(walk.root), walk.names.join('/')]
  }
  expect(rootOf('plain/read/a')).toEqual([0, 'plain/read/a'])
  expect(rootOf('written/a')).toEqual([2, 'a'])
  expect(refused(roots, 'read/a', 'write')).toEqual({ type: 'ReadOnlyRoot', path: 'read/a' })
  using walk = walkTo(roots, 'read/a', 'read')
  expect([walk.root, walk.path]).toEqual([all[1], at('work/read/a')])
})

test('without descriptors, a folder that was swapped on the way is noticed before it is used', () => {
  for (const swapped of ['work/a', 'work/a/b', 'work']) {
    const { at, roots } = open(true)
    mkdirSync(at('work/a/b'), { recursive: true })
    mkdirSync(at('other/a/b'), { recursive: true })
    using walk = walkTo(roots, 'a/b/c', 'read')
    expect(walk.at).toBe(at('work/a/b/c'))
    renameSync(at(swapped), at('moved'))
    symlinkSync(at(swapped.replace('work', 'other')), at(swapped))
    for (const use of [() => walk.at, () => walk.assertHolds()])
      expect(refusal(use)).toMatchObject({ type: 'PathOutOfScope', facts: { path: 'a/b/c' } })
  }
})

test('with descriptors, what is opened is what the walk went through, wherever its path leads by then', () => {
  const { at, roots } = open()
  for (const name of ['work/a', 'other']) mkdirSync(at(name))
  for (const name of ['work/a/c', 'other/c']) writeFileSync(at(name), name)
  using walk = walkTo(roots, 'a/c', 'read')
  renameSync(at('work/a'), at('work/moved'))
  symlinkSync(at('other'), at('work/a'))
  expect(readdirSync(walk.dir.at)).toEqual(['c'])
  expect(walk.dir.holds()).toBe(true)
  expect(refused(roots, 'a/c').type).toBe('PathOutOfScope')
})

test('a walk lets go of what it opened, also where it is refused', () => {
  const { at, roots } = open()
  mkdirSync(at('work/a/b/c'), { recursive: true })
  symlinkSync('/etc', at('work/a/b/out'))
  const count = () => readdirSync('/proc/self/fd').length
  const before = count()
  for (let i = 0; i < 5; i += 1) {
    walkTo(roots, 'a/b/c/d', 'read')[Symbol.dispose]()
    refused(roots, 'a/b/out/x')
    refused(roots, 'a/b/c/../../../..')
    using walk = walkTo(roots, 'a/b/c/..', 'read')
    walk.asEntry()
  }
  expect(count()).toBe(before)
})

test('only a file is opened as one, and the refusal names the path', () => {
  const { at, roots } = open()
  mkdirSync(at('work/folder'))
  for (const name of ['null', 'file']) writeFileSync(at(`work/${name}`), name)
  linkSync(at('work/file'), at('work/twice'))
  const opening = (path: string, denyHardlinks = false) =>
    refusal(() => {
      using walk = walkTo(roots, path, 'read')
      openFile(walk, path, denyHardlinks)
    })
  for (const path of ['.', 'folder/..', 'folder'])
    expect(opening(path)).toMatchObject({ type: 'IsADirectory', facts: { path } })
  expect(opening('twice', true)).toMatchObject({ type: 'TooManyLinks', facts: { path: 'twice' } })
})

test('a link that leads nowhere is looked at as the link that it is, and one to the outside is not', () => {
  const { at, roots } = open()
  symlinkSync('gone', at('work/dangling'))
  symlinkSync('loop', at('work/loop'))
  symlinkSync('/etc/passwd', at('work/out'))
  for (const path of ['dangling', 'loop']) expect(statPath(roots, path)?.type).toBe('symlink')
  expect(refusal(() => statPath(roots, 'out'))).toMatchObject({
    ...{ type: 'PathOutOfScope', facts: { path: 'out' } },
  })
})
