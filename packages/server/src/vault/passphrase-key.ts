import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { keyBytes } from './seal.ts'

/** Costs of a derivation; stored, so that they can be raised later without locking anybody out. */
export type KdfCosts = {
  readonly memory_kib: number
  readonly passes: number
  readonly lanes: number
}

/** Half a second and 256 MiB a try. */
export const kdfCosts: KdfCosts = { memory_kib: 256 * 1024, passes: 3, lanes: 4 }

export type Kdf = KdfCosts & {
  /** base64 */
  readonly salt: string
  /** Tells a wrong passphrase from a damaged store; hex. */
  readonly check: string
}

/** argon2id; the package's enum is for its types only. */
const argon2id = 2

async function derive(passphrase: string, costs: KdfCosts, salt: Buffer) {
  const { hashRaw } = await import('@node-rs/argon2')
  const raw = await hashRaw(passphrase.normalize('NFC'), {
    algorithm: argon2id as never,
    memoryCost: costs.memory_kib,
    timeCost: costs.passes,
    parallelism: costs.lanes,
    outputLen: keyBytes * 2,
    salt,
  })
  const check = createHash('sha256').update(raw.subarray(keyBytes)).digest('hex')
  return { key: raw.subarray(0, keyBytes), check }
}

export async function newPassphraseKey(
  passphrase: string,
  costs: KdfCosts,
): Promise<{ readonly key: Buffer; readonly kdf: Kdf }> {
  const salt = randomBytes(16)
  const { key, check } = await derive(passphrase, costs, salt)
  const { memory_kib, passes, lanes } = costs
  return { key, kdf: { memory_kib, passes, lanes, salt: salt.toString('base64'), check } }
}

/** The key, or null for a wrong passphrase. */
export async function passphraseKey(passphrase: string, kdf: Kdf): Promise<Buffer | null> {
  const { key, check } = await derive(passphrase, kdf, Buffer.from(kdf.salt, 'base64'))
  const [given, wanted] = [Buffer.from(check), Buffer.from(kdf.check)]
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? key : null
}
