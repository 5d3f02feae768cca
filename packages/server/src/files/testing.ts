import fs, { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createFilesFactory, type FilesOptions } from './create-files-factory.ts'

let made = 0

/** Folders of an agent, and its files in them; the time is moved by hand. */
export const openFiles = (
  options: { readonly mount?: boolean } & Pick<FilesOptions, 'onSweepError'> = {},
) => {
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
      ...(options.onSweepError ? { onSweepError: options.onSweepError } : {}),
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

/** Comes before each use of a function of the file system, as another process may, until it is disposed of. */
export const comingBefore = (name: 'lstatSync' | 'openSync', act: (at: string) => void) => {
  const original = fs[name] as (...given: unknown[]) => unknown
  const put = (used: typeof original) => {
    Object.assign(fs, { [name]: used })
    syncBuiltinESMExports()
  }
  put((...given) => {
    act(String(given[0]))
    return original(...given)
  })
  return { [Symbol.dispose]: () => put(original) }
}
