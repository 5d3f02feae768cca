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
import { outcome } from '../../test/kit/file-uses.ts'
import type { Files } from '../ports/files.ts'
import { createFilesFactory } from './create-files-factory.ts'

let made = 0
const ids = {
  next: (prefix: string) => `${prefix}-${String(made++).padStart(26, '0')}`,
  secret: () => Buffer.alloc(32),
}
const clock = { wall: () => Date.now(), now: () => Date.now() }

const text = async (files: Files, name: string): Promise<string> =>
  (await files.read(name, { bytesMax: 1 << 20 })).bytes.toString()

const newBase = () => {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'gatehouse-files-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  return (name: string) => path.join(base, name)
}

test('a link that another agent put on the way to a folder does not lead there', async () => {
  const at = newBase()
  for (const name of ['shared/docs', 'alpha', 'beta', 'secret'])
    mkdirSync(at(name), { recursive: true })
  writeFileSync(at('secret/canary'), 'CANARY-FS-4')
  writeFileSync(at('shared/docs/canary'), 'docs')
  symlinkSync('shared', at('given'))
  const agents = [
    { name: 'alpha', workspace: at('alpha'), mounts: [{ path: at('given'), read_only: false }] },
    // By its own path, by a link that no agent can change, and by a way through the folder of the other.
    { name: 'beta', workspace: at('beta'), mounts: [{ path: at('shared/docs'), read_only: true }] },
    { name: 'gamma', workspace: at('beta'), mounts: [{ path: at('given/docs'), read_only: true }] },
  ]
  const opened = (name: string) => {
    using factory = createFilesFactory({ ids, clock })
    for (const agent of agents) factory.note('agent', agent)
    const agent = agents.find((one) => one.name === name)
    return outcome(async () => {
      if (!agent) throw new Error(name)
      const files = factory.open(agent)
      expect(await text(files, path.join(agent.mounts[0]?.path ?? '', 'canary'))).toBe('docs')
    })
  }
  const each = async () => [await opened('beta'), await opened('gamma')]
  expect(await each()).toEqual(Array(2).fill('done'))
  renameSync(at('shared/docs'), at('shared/moved'))
  symlinkSync(at('secret'), at('shared/docs'))
  expect(await each()).toEqual(Array(2).fill('InvalidConfiguration'))
  using factory = createFilesFactory({ ids, clock })
  const giving = (...mounts: { path: string; read_only: boolean }[]) => {
    factory.assertMounts(mounts)
  }
  const docs = { path: at('shared/docs'), read_only: true }
  giving(docs)
  const why = /shared\/docs is refused: a link in .*shared leads to it/
  expect(() => giving({ path: at('given'), read_only: false }, docs)).toThrow(why)
  factory.note('upstream', { name: 'notes', mounts: [{ path: at('shared'), read_only: false }] })
  expect(() => giving(docs)).toThrow(why)
  // Given by where it leads, it is what a person meant.
  giving({ path: at('secret'), read_only: true })
  rmSync(at('shared/docs'))
  giving(docs)
})

test('what is given to a program is held as it was looked at, by the same rules', () => {
  const at = newBase()
  for (const name of ['data/policies', 'data/workspaces/alpha', 'shared/docs', 'secret'])
    mkdirSync(at(name), { recursive: true })
  writeFileSync(at('shared/list'), 'list')
  using factory = createFilesFactory({ ids, clock, own: at('data') })
  const shared = [{ path: at('shared'), read_only: false }]
  factory.note('agent', {
    ...{ name: 'alpha', mounts: shared },
    workspace: at('data/workspaces/alpha'),
  })
  const before = readdirSync('/proc/self/fd').length
  const held = (name: string) => {
    using folder = factory.hold(at(name))
    return realpathSync(folder.source)
  }
  factory.note('agent', { ...{ name: 'beta', mounts: [] }, workspace: at('data/workspaces/beta') })
  for (const name of ['shared/docs', 'shared/list', 'data/workspaces/alpha', 'secret'])
    expect(held(name)).toBe(at(name))
  symlinkSync('./shared/.././secret/.', at('winding'))
  expect(held('winding')).toBe(at('secret'))
  rmSync(at('shared/docs'), { recursive: true })
  expect(() => held('shared/docs')).toThrow(/There is no file/)
  symlinkSync(at('secret'), at('shared/docs'))
  symlinkSync(at('secret'), at('data/workspaces/alpha/link'))
  for (const name of ['shared/docs', 'data/workspaces/alpha/link'])
    expect(() => held(name)).toThrow(
      expect.objectContaining({
        type: 'InvalidConfiguration',
        facts: {
          origin: at(name),
          detail: expect.stringMatching(/a link in .* leads to it/) as string,
        },
      }),
    )
  for (const name of ['data', 'data/policies', 'data/workspaces', '.'])
    expect(() => held(name)).toThrow(/the data of the service/)
  expect(readdirSync('/proc/self/fd').length).toBe(before)
})

test('the data of the service is no mount, nor what holds it, nor a link to it, nor the system', () => {
  const at = newBase()
  for (const name of ['home/data', 'work']) mkdirSync(at(name), { recursive: true })
  symlinkSync(at('home/data'), at('work/link'))
  using factory = createFilesFactory({ ids, clock, own: at('home/data') })
  const giving = (mount: string) => () => {
    factory.assertMounts([{ path: mount, read_only: true }])
  }
  for (const name of ['home/data', 'home/data/policies', 'home', 'work/link', 'work/link/audit'])
    expect(giving(at(name))).toThrow(/is refused: it leads to the data of the service itself/)
  for (const mount of ['/proc/self', '/sys', '/dev/shm', '/', 'work', '/srv/../etc'])
    expect(giving(mount)).toThrow(`the mount ${mount}`)
  // Any other is one, also beside it and before it is there.
  for (const name of ['work', 'home/data-other', 'later']) giving(at(name))()
})

test('a path of forty links leads somewhere, and of more nowhere', () => {
  const at = newBase()
  mkdirSync(at('end'))
  symlinkSync('end', at('link1'))
  for (let i = 2; i <= 41; i++) symlinkSync(`link${i - 1}`, at(`link${i}`))
  symlinkSync('loop', at('loop'))
  using factory = createFilesFactory({ ids, clock })
  using held = factory.hold(at('link40'))
  expect(realpathSync(held.source)).toBe(at('end'))
  for (const name of ['link41', 'loop'])
    expect(() => factory.hold(at(name))).toThrow('goes through too many links')
})
