import { hkdfSync, randomBytes } from 'node:crypto'
import type { BackupSecret } from '../ports/backup.ts'

/** First bytes of every backup; the number grows with what is not compatible. */
export const magic = Buffer.from('gatehouse-backup-1\n')

const saltBytes = 32
/** Fixed by the version of the format, so that no file decides how much memory opening it takes. */
const argon = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1, outputLen: 32 }
const argon2id = 2
const kinds = { passphrase: 1, key: 2 } as const

export const headerBytes = magic.length + 1 + saltBytes

/** Opens a new file: says how it is locked, with a salt that no other file has. */
export const newHeader = (secret: BackupSecret): Buffer =>
  Buffer.concat([magic, Buffer.from([kinds[secret.kind]]), randomBytes(saltBytes)])

export type HeaderKind = keyof typeof kinds | 'unknown'

/** Kind of key that a header names. */
export const kindOf = (header: Uint8Array): HeaderKind => {
  if (header.length !== headerBytes || !magic.equals(header.subarray(0, magic.length)))
    return 'unknown'
  const kind = header[magic.length]
  return kind === kinds.passphrase ? 'passphrase' : kind === kinds.key ? 'key' : 'unknown'
}

/** The key of one file. Every byte of the header goes into it: a changed header opens nothing. */
export async function deriveKey(header: Buffer, secret: BackupSecret): Promise<Buffer> {
  const salt = header.subarray(magic.length + 1)
  const master =
    secret.kind === 'key'
      ? secret.key
      : await (await import('@node-rs/argon2')).hashRaw(secret.passphrase, {
          ...argon,
          algorithm: argon2id as never,
          salt,
        })
  return Buffer.from(hkdfSync('sha256', master, salt, header, 32))
}
