import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createFilesFactory } from './create-files-factory.ts'

let made = 0

/** Folders of an agent, and its files in them; the time is moved by hand. */
export const openFiles = (options: { readonly mount?: boolean } = {}) => {
  const base = mkdtempSync(path.join(tmpdir(), 'gatehouse-files-'))
  const root = path.join(base, 'work')
  const time = { now: Date.parse('2026-03-01T12:00:00Z') }
  const create = () =>
    createFilesFactory({
      ids: {
        next: (prefix) => `${prefix}-${String(made++).padStart(26, '0')}`,
        secret: () => Buffer.alloc(32),
      },
      clock: { wall: () => time.now, now: () => time.now },
    })
  const factory = create()
  const other = path.join(base, 'other')
  if (options.mount) mkdirSync(other)
  const mounts = options.mount ? [{ path: other, read_only: false }] : []
  const agent = { name: 'alpha', workspace: root, mounts }
  const at = (name: string) => path.join(root, name)
  return {
    root,
    other,
    at,
    time,
    agent,
    factory,
    create,
    files: factory.open(agent),
    put: (name: string, text: string) => {
      mkdirSync(path.dirname(at(name)), { recursive: true })
      writeFileSync(at(name), text)
    },
    get: (name: string) => readFileSync(at(name), 'utf8'),
    [Symbol.dispose]: () => {
      factory[Symbol.dispose]()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
