import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { headerBytes } from './key.ts'
import { chunkBytes, seal, tagBytes } from './seal.ts'
import { gather, streamOf, testKey } from './testing.ts'
import { unseal } from './unseal.ts'

const sealed = (...pieces: readonly Uint8Array[]) => gather(seal(streamOf(...pieces), testKey))
const opened = (bytes: Uint8Array) => gather(unseal(streamOf(bytes), testKey))
const chunk = chunkBytes + tagBytes

test.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, chunkBytes * 3])(
  'gives %d bytes back as they were',
  async (size) => {
    const plain = randomBytes(size)
    const file = await sealed(plain.subarray(0, size >> 1), plain.subarray(size >> 1))
    expect((await opened(file)).equals(plain)).toBe(true)
    expect(file.length).toBe(
      headerBytes + size + tagBytes * Math.max(1, Math.ceil(size / chunkBytes)),
    )
  },
)

test('opens with the passphrase it was sealed with, and with no other', async () => {
  const right = { kind: 'passphrase', passphrase: 'correct horse battery' } as const
  const file = await gather(seal(streamOf(Buffer.from('hello')), right))
  expect((await gather(unseal(streamOf(file), right))).toString()).toBe('hello')
  const wrong = { ...right, passphrase: 'correct horse batterx' }
  await expect(gather(unseal(streamOf(file), wrong))).rejects.toThrow('the passphrase is wrong')
  await expect(opened(file)).rejects.toThrow('locked with a passphrase, not with a key')
})

test('two files of the same content and key have nothing in common', async () => {
  const [a, b] = [await sealed(Buffer.alloc(100)), await sealed(Buffer.alloc(100))]
  expect(a.subarray(headerBytes).equals(b.subarray(headerBytes))).toBe(false)
})

test('a file that was cut off anywhere is refused, also between chunks', async () => {
  const file = await sealed(randomBytes(chunkBytes * 2 + 10))
  const lengths = [
    0,
    headerBytes - 1,
    headerBytes,
    headerBytes + 5,
    headerBytes + chunk,
    headerBytes + chunk * 2,
    file.length - 1,
  ]
  for (const length of lengths)
    await expect(opened(file.subarray(0, length)), `${length}`).rejects.toThrow('cannot be used')
  await expect(opened(Buffer.concat([file, Buffer.from('x')]))).rejects.toThrow(
    'cut off or changed',
  )
})

test('a bit that was flipped anywhere is found', async () => {
  const file = await sealed(randomBytes(chunkBytes + 10))
  for (let at = 0; at < file.length; at += 997) {
    const changed = Buffer.from(file)
    changed[at] = (changed[at] ?? 0) ^ 1
    await expect(opened(changed), `${at}`).rejects.toThrow('cannot be used')
  }
})

test('chunks that changed places, stand twice or are left out are found', async () => {
  const file = await sealed(randomBytes(chunkBytes * 3))
  const [head, one, two, three] = [
    file.subarray(0, headerBytes),
    ...[0, 1, 2].map((i) => file.subarray(headerBytes + i * chunk, headerBytes + (i + 1) * chunk)),
  ] as [Buffer, Buffer, Buffer, Buffer]
  for (const parts of [
    [head, two, one, three],
    [head, one, one, two, three],
    [head, one, three],
  ])
    await expect(opened(Buffer.concat(parts))).rejects.toThrow('cannot be used')
  expect((await opened(Buffer.concat([head, one, two, three]))).length).toBe(chunkBytes * 3)
})
