import type { Files } from '../../src/ports/files.ts'
import { typeOf } from './type-of.ts'

export type FileUse = readonly [name: string, use: (files: Files, at: string) => unknown]

export const newBytes = Buffer.from('new')

const drain = async (all: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of all);
}

/** The type of the error that a step ends in, or `done`. */
export const outcome = (step: () => unknown): Promise<string> => typeOf((async () => step())())

/** Each use of a path that a file or a folder may stand at. */
export const usesOfAny: readonly FileUse[] = [
  ['read', (f, p) => f.read(p, { bytesMax: 100 })],
  ['stat', (f, p) => f.stat(p)],
  ['write', (f, p) => f.write(p, newBytes, { createParents: true })],
  ['append', (f, p) => f.append(p, newBytes)],
  ['copy from', (f, p) => f.copy(p, 'taken', { overwrite: true })],
  ['copy to', (f, p) => f.copy('mine', p, { overwrite: true })],
  ['move from', (f, p) => f.move(p, 'taken', { overwrite: true })],
  ['move to', (f, p) => f.move('mine', p, { overwrite: true })],
  ['delete', (f, p) => f.trash(p, { recursive: true })],
  ['watch', async (f, p) => (await f.watch(p, { recursive: true }, () => {}))[Symbol.dispose]()],
  ['fingerprint', (f, p) => f.fingerprint(p)],
]

/** And of a folder. */
export const usesOfFolders: readonly FileUse[] = [
  ['list', (f, p) => f.list(p)],
  ['walk', (f, p) => drain(f.walk(p, new AbortController().signal))],
]
