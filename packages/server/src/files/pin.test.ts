import {
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
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createFilesFactory } from './create-files-factory.ts'
import { FolderRules } from './folder-rules.ts'
import { pinFolder } from './pin.ts'
import { Root } from './root.ts'
import { Roots } from './roots.ts'

const rules = new FolderRules(null)
const faultOf = rules.workspaceFault.bind(rules)

/** The folders of an agent: a workspace, and in it or beside it a shelf to read from. */
const filesOf = (work: string, shelf: string) => {
  const factory = createFilesFactory({
    ids: { next: (prefix) => `${prefix}-x`, secret: () => Buffer.alloc(32) },
    clock: { wall: () => 0, now: () => 0 },
  })
  onTestFinished(() => factory[Symbol.dispose]())
  const mounts = [{ path: shelf, read_only: true }]
  return factory.open({ name: 'a', workspace: work, mounts })
}

const open = () => {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'gatehouse-pin-')))
  const [work, shelf, outside] = ['work', 'work/inner', 'outside'].map((name) =>
    path.join(base, name),
  ) as [string, string, string]
  for (const folder of [work, shelf, outside, path.join(work, 'project')])
    mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(base, { recursive: true }))
  return { work, shelf, outside, files: filesOf(work, shelf) }
}

test('a folder that is held open stays itself when its path leads elsewhere', () => {
  const { work, outside, files } = open()
  writeFileSync(path.join(work, 'project/a'), '')
  writeFileSync(path.join(outside, 'canary'), '')
  using folder = files.pin('project', { writable: true })
  expect(folder.path).toBe(path.join(work, 'project'))
  renameSync(path.join(work, 'project'), path.join(work, 'moved'))
  symlinkSync(outside, path.join(work, 'project'))
  expect(readdirSync(`/proc/self/fd/${folder.fd}`)).toEqual(['a'])
  expect(() => files.pin('project', { writable: false })).toThrow(/outside the folders/)
})

test('a folder that is given read-only is held for reading alone, also inside another', () => {
  const { work, shelf, files } = open()
  expect(() => files.pin('inner', { writable: true })).toThrow(
    expect.objectContaining({ type: 'ReadOnlyRoot', facts: { path: 'inner' } }),
  )
  using inner = files.pin('inner', { writable: false })
  expect(inner.path).toBe(shelf)
  symlinkSync('inner', path.join(work, 'link'))
  expect(() => files.pin('link', { writable: true })).toThrow(/read-only/)
  using project = files.pin('project', { writable: true })
  expect(project.inner).toEqual([])
  using whole = files.pin('.', { writable: true })
  expect(whole.inner).toMatchObject([{ path: shelf, read_only: true }])
})

test('a folder inside another that is not there takes nothing else with it', () => {
  const { work, shelf, outside, files } = open()
  rmSync(shelf, { recursive: true })
  const later = filesOf(work, shelf)
  const put: (() => void)[] = [
    () => {},
    () => symlinkSync(outside, shelf),
    () => symlinkSync('inner', shelf),
    () => writeFileSync(shelf, ''),
  ]
  for (const step of put) {
    rmSync(shelf, { force: true })
    step()
    using whole = later.pin('.', { writable: true })
    expect(whole.inner).toEqual([])
  }
  using old = files.pin('.', { writable: true })
  expect(old.inner).toHaveLength(1)
  rmSync(shelf)
  mkdirSync(shelf)
  using whole = later.pin('.', { writable: true })
  expect(whole.inner).toMatchObject([{ path: shelf, read_only: true }])
})

test('a folder inside another that cannot be held lets nothing be held that it lies in', () => {
  const { work, shelf } = open()
  const root = (path: string) =>
    new Root({ path, readOnly: path === shelf, make: false, faultOf }, false)
  const [workspace, inner] = [root(work), root(shelf)]
  onTestFinished(() => workspace.close())
  const roots = Roots.of(workspace, inner)
  inner.close()
  const before = readdirSync('/proc/self/fd').length
  expect(() => pinFolder(roots, '.', { writable: true })).toThrow(
    expect.objectContaining({ type: 'PathOutOfScope', facts: { path: shelf } }),
  )
  expect(readdirSync('/proc/self/fd').length).toBe(before)
})

test('what is no folder of the agent is not held', () => {
  const { work, outside, files } = open()
  writeFileSync(path.join(work, 'file'), '')
  mkdirSync(path.join(work, '.git'))
  expect(() => files.pin('file', { writable: false })).toThrow(/not a folder/)
  expect(() => files.pin('none', { writable: false })).toThrow(/no file/)
  expect(() => files.pin(outside, { writable: false })).toThrow(/outside the folders/)
  expect(() => files.pin('..', { writable: false })).toThrow(/outside the folders/)
  expect(() => files.pin('.git', { writable: true })).toThrow(/protected/)
})

test('disposing lets go of everything', () => {
  const { files } = open()
  const count = () => readdirSync('/proc/self/fd').length
  const before = count()
  for (let i = 0; i < 10; i++) files.pin('.', { writable: true })[Symbol.dispose]()
  expect(count()).toBe(before)
})
