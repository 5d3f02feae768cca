import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { HandClock } from '../log/testing.ts'
import { createIds } from '../platform/ids.ts'
import { createFilesFactory } from './create-files-factory.ts'

const open = () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-stream-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const factory = createFilesFactory({ ids: createIds(), clock: new HandClock() })
  onTestFinished(() => factory[Symbol.dispose]())
  return { folder, workspace, files: factory.open({ name: 'a', workspace, mounts: [] }) }
}

const asked = { times: 0 }

async function* chunks(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  asked.times += 1
  for (const text of texts) yield Buffer.from(text)
}

const fresh = { createParents: false, mustBeNew: true }
const over = { createParents: false, mustBeNew: false }
const sha256 = createHash('sha256').update('onetwo').digest('hex')

test('what arrives in pieces stands there whole, with its digest', async () => {
  const { workspace, files } = open()
  const written = await files.writeStream('a', chunks('one', '', 'two'), { ...fresh, sha256 })
  const path = join(workspace, 'a')
  expect(written).toEqual({ path, size_bytes: 6, sha256, created: true })
  expect(readFileSync(path, 'utf8')).toBe('onetwo')
  expect(await files.writeStream('a', chunks(), over)).toMatchObject({
    size_bytes: 0,
    created: false,
  })
})

test('nothing is asked for where it could not be kept', async () => {
  const { folder, workspace, files } = open()
  writeFileSync(join(workspace, 'there'), 'mine')
  mkdirSync(join(workspace, 'folder'))
  symlinkSync(folder, join(workspace, 'out'))
  asked.times = 0
  const fails = (path: string, type: string, options = fresh) =>
    expect(files.writeStream(path, chunks('x'), options), path).rejects.toMatchObject({ type })
  await fails('there', 'AlreadyExists')
  await fails('folder', 'IsADirectory', over)
  await fails('../x', 'PathOutOfScope')
  await fails('out/x', 'PathOutOfScope')
  await fails('no/x', 'FolderNotFound')
  await fails('.git/config', 'ProtectedPath', { ...fresh, createParents: true })
  expect(asked.times).toBe(0)
  expect(readdirSync(folder)).toEqual(['workspace'])
})

test('what breaks off, or is not what was meant, leaves what stood there', async () => {
  const { workspace, files } = open()
  writeFileSync(join(workspace, 'a'), 'mine')
  async function* breaking(): AsyncIterable<Uint8Array> {
    yield Buffer.from('half')
    throw new Error('gone')
  }
  await expect(files.writeStream('a', breaking(), over)).rejects.toThrow('gone')
  await expect(files.writeStream('a', chunks('other'), { ...over, sha256 })).rejects.toMatchObject({
    type: 'DigestMismatch',
    facts: { expected: sha256 },
  })
  expect(readdirSync(workspace)).toEqual(['a'])
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('mine')
})

test('one that comes first is not replaced by one that must be new', async () => {
  const { workspace, files } = open()
  async function* slow(): AsyncIterable<Uint8Array> {
    yield Buffer.from('late')
    writeFileSync(join(workspace, 'a'), 'first')
  }
  await expect(files.writeStream('a', slow(), fresh)).rejects.toMatchObject({
    type: 'AlreadyExists',
  })
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('first')
  expect(readdirSync(workspace)).toEqual(['a'])
})
