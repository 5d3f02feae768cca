import { createDecipheriv } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { BackupSecret } from '../ports/backup.ts'
import { deriveKey, headerBytes, kindOf } from './key.ts'
import { chunkBytes, nonceOf, tagBytes } from './seal.ts'

export const refuse = (detail: string): never => {
  throw new GatehouseError('BackupRefused', { detail })
}

const openChunk = (key: Buffer, index: number, last: boolean, sealed: Buffer): Buffer | null => {
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, last), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
  try {
    const plain = decipher.update(sealed.subarray(0, sealed.length - tagBytes))
    return Buffer.concat([plain, decipher.final()])
  } catch {
    return null
  }
}

/** Cuts a stream into pieces of the sizes asked for; the last may be shorter. */
async function* cut(
  stream: AsyncIterable<Uint8Array>,
  first: number,
  then: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly last: boolean }> {
  let held = Buffer.alloc(0)
  let size = first
  for await (const piece of stream) {
    held = Buffer.concat([held, piece])
    while (held.length > size) {
      yield { bytes: held.subarray(0, size), last: false }
      held = held.subarray(size)
      size = then
    }
  }
  yield { bytes: held, last: true }
}

/** Decrypts what `seal` made. Nothing of a chunk is passed on before all of it is known to be right. */
export async function* unseal(
  sealed: AsyncIterable<Uint8Array>,
  secret: BackupSecret,
): AsyncGenerator<Buffer> {
  let key: Buffer | null = null
  let index = 0
  for await (const { bytes, last } of cut(sealed, headerBytes, chunkBytes + tagBytes)) {
    if (key === null) {
      const kind = kindOf(bytes)
      if (kind === 'unknown') return refuse('it is no backup of this version of the format')
      if (kind !== secret.kind)
        return refuse(`it is locked with a ${kind}, not with a ${secret.kind}`)
      if (last) return refuse('it is cut off')
      key = await deriveKey(Buffer.from(bytes), secret)
      continue
    }
    const plain = bytes.length < tagBytes ? null : openChunk(key, index, last, bytes)
    if (plain === null)
      return refuse(
        index === 0
          ? `the ${secret.kind} is wrong, or its beginning was changed`
          : `it was cut off or changed at byte ${headerBytes + index * (chunkBytes + tagBytes)} or after`,
      )
    index += 1
    yield plain
  }
}
