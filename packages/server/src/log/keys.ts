import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { assertPrivate, readIfThere, writeNew } from './files.ts'
import { sealLength } from './frame.ts'

/** Checker of signatures. `raw` are the 32 bytes of the Ed25519 public key. */
export type Verifier = {
  readonly raw: Buffer
  readonly pem: string
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/** MACs and seals that only the holder of the signing key can make or check, at a fraction of a signature's cost. */
export type Sealer = {
  /** HMAC-SHA-256 of the message, 32 bytes. */
  mac(message: string): Buffer

  /** The first eight bytes of a keyed hash of 32 bytes, both in hex. */
  seal(hash: string): string
}

export type Keys = Verifier &
  Sealer & {
    /** Whether the key was made just now. */
    readonly fresh: boolean
    /** Secret of this install for hashes of values that are not kept. */
    readonly redaction: Buffer
    sign(message: Uint8Array): Buffer
  }

export const keyFile = 'audit.key'
export const publicKeyFile = 'audit.pub'
const redactionFile = 'audit-redaction.key'

const verifierOf = (key: KeyObject): Verifier => ({
  raw: Buffer.from(String(key.export({ format: 'jwk' })['x']), 'base64url'),
  pem: String(key.export({ format: 'pem', type: 'spki' })),
  verify: (message, signature) => verify(null, message, key, signature),
})

/** Made from the signing key, so that it is exactly as secret and there is no other file to lose. */
const sealerOf = (key: KeyObject): Sealer => {
  const secret = key.export({ format: 'der', type: 'pkcs8' })
  const derived = hkdfSync('sha256', secret, '', 'gatehouse-mark-mac', 32)
  // A key object: with raw bytes each MAC would import them anew.
  const own = createSecretKey(Buffer.from(derived))
  // Of one length, so that a plain hash over key and value is as good as an HMAC, at a third of its cost.
  const keyed = Buffer.alloc(64)
  Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse-entry-seal', 32)).copy(keyed)
  return {
    mac: (message) => createHmac('sha256', own).update(message).digest(),
    seal(value) {
      keyed.write(value, 32, 'hex')
      return hash('sha256', keyed, 'hex').slice(0, sealLength)
    },
  }
}

const notAKey = (origin: string, cause: unknown): GatehouseError =>
  new GatehouseError('InvalidConfiguration', { origin, detail: 'not an Ed25519 key' }, { cause })

/** Reads a public key: PEM, or the 32 bytes in base64. */
export const parsePublicKey = (text: string, origin: string): Verifier => {
  try {
    const key = text.includes('BEGIN')
      ? createPublicKey(text)
      : createPublicKey({
          format: 'jwk',
          key: {
            kty: 'OKP',
            crv: 'Ed25519',
            x: Buffer.from(text.trim(), 'base64').toString('base64url'),
          },
        })
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(String(key.asymmetricKeyType))
    return verifierOf(key)
  } catch (error) {
    throw notAKey(origin, error)
  }
}

const loadOrMake = (file: string, make: () => string | Uint8Array): [Buffer, boolean] => {
  const there = readIfThere(file)
  if (there) {
    assertPrivate(file)
    return [there, false]
  }
  const content = make()
  writeNew(file, content, 0o400)
  return [Buffer.from(content), true]
}

const parsePrivateKey = (pem: Buffer, origin: string): KeyObject => {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(String(key.asymmetricKeyType))
    return key
  } catch (error) {
    throw notAKey(origin, error)
  }
}

/** Checker of MACs, for those who may read the key that this verifier belongs to; null for everybody else. */
export const sealerBeside = (directory: string, verifier: Verifier): Sealer | null => {
  const file = path.join(directory, keyFile)
  let pem: Buffer | null
  try {
    pem = readIfThere(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return null
    throw error
  }
  if (!pem) return null
  const key = parsePrivateKey(pem, file)
  return verifierOf(createPublicKey(key)).raw.equals(verifier.raw) ? sealerOf(key) : null
}

/** The keys of this install, made at the first start. Never in the database that they vouch for. */
export const loadKeys = (directory: string): Keys => {
  const file = path.join(directory, keyFile)
  const [pem, fresh] = loadOrMake(file, () =>
    String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })),
  )
  const key = parsePrivateKey(pem, file)
  const verifier = verifierOf(createPublicKey(key))
  const published = path.join(directory, publicKeyFile)
  if (readIfThere(published)?.toString() !== verifier.pem) writeNew(published, verifier.pem, 0o644)
  const [redaction] = loadOrMake(path.join(directory, redactionFile), () => randomBytes(32))
  return {
    ...verifier,
    ...sealerOf(key),
    fresh,
    redaction,
    sign: (message) => sign(null, message, key),
  }
}
