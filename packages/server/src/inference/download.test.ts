import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptModel } from '@gatehouse/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Outbound } from '../ports/outbound.ts'
import { download } from './download.ts'
import { ModelFolder } from './model-folder.ts'

const bytes = scriptModel()
const file = {
  id: 'tiny',
  url: 'https://models.example/tiny.gguf',
  sha256: createHash('sha256').update(bytes).digest('hex'),
  size_bytes: bytes.length,
}

/** Sends the whole file in pieces, whatever it is asked for. */
const source = (pieces: number): Outbound => ({
  async request() {
    async function* body() {
      for (let at = 0; at < bytes.length; at += pieces) yield bytes.subarray(at, at + pieces)
    }
    return {
      status: 200,
      headers: {},
      url: file.url,
      body: body(),
      [Symbol.asyncDispose]: async () => undefined,
    }
  },
  keepConnections: () => {
    throw new Error('none')
  },
  lookup: async () => [],
  connect: async () => ({ open: false, latency_ms: 0 }),
  openEgress: () => Promise.reject(new Error('none')),
})

/** A disk that takes so many bytes, and then acts as it is told. */
class SmallDisk extends ModelFolder {
  room = Infinity
  beyond: 'full' | 'short' = 'full'

  override async openPartial(sha256: string): Promise<FileHandle> {
    const handle = await super.openPartial(sha256)
    const write = handle.write.bind(handle) as (
      ...rest: unknown[]
    ) => Promise<{ bytesWritten: number }>
    return new Proxy(handle, {
      get: (target, key) => {
        if (key !== 'write') {
          const value = Reflect.get(target, key) as unknown
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        }
        return async (buffer: Buffer, offset: number, length: number, position: number) => {
          if (this.beyond === 'short')
            return write(buffer, offset, Math.min(length, this.room), position)
          if (position + length > this.room)
            throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
          return write(buffer, offset, length, position)
        }
      },
    })
  }
}

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'gatehouse-download-'))
})
afterEach(() => rmSync(path, { recursive: true, force: true }))

const fetched = (folder: ModelFolder, pieces = 16_384) =>
  download(
    { folder, outbound: source(pieces), mirrors: new Map(), stallMs: 10_000 },
    file,
    () => undefined,
    new AbortController().signal,
  )
const inPlace = () => readdirSync(path).filter((name) => name.endsWith('.gguf'))

test('a disk that fills up ends it with the numbers, and nothing is in place', async () => {
  const folder = new SmallDisk(path)
  folder.room = 50_000
  await expect(fetched(folder)).rejects.toMatchObject({
    type: 'NotEnoughDisk',
    facts: { id: 'tiny', needed_bytes: expect.any(Number) as number },
  })
  expect(inPlace()).toEqual([])
  // Room was made: it goes on.
  folder.room = Infinity
  await fetched(folder)
  expect(inPlace()).toEqual([`${file.sha256}.gguf`])
})

test('a disk that takes less at a time than it is given gets the rest', async () => {
  const folder = new SmallDisk(path)
  Object.assign(folder, { room: 1_000, beyond: 'short' })
  await fetched(folder)
  expect(inPlace()).toEqual([`${file.sha256}.gguf`])
})

test.each([1, 7, 4_096, 1_000_000])('pieces of %s bytes make the same file', async (pieces) => {
  await fetched(new ModelFolder(path), pieces)
  const hashed = createHash('sha256')
    .update(readFileSync(join(path, `${file.sha256}.gguf`)))
    .digest('hex')
  expect(hashed).toBe(file.sha256)
})
