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
    /** Whether the public key beside it is its own; `other` until `publish` writes it anew. */
    readonly published: 'own' | 'other'
    publish(): void
    /** Secret of this install for hashes of values that are not kept. */
    readonly redaction: Buffer
    sign(message: Uint8Array): Buffer
  }

export const keyFile = 'audit.key'
export const publicKeyFile = 'audit.pub'
const redactionFile = 'audit-redaction.key'
/** Beside a key that nothing else says anything about, in the form of `sha256sum`. */
const sumFileOf = (file: string): string => `${file}.sha256`

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

const notAKey = (
  origin: string,
  cause: unknown,
  options: ConstructorParameters<typeof GatehouseError>[2] = {},
): GatehouseError => {
  const facts = { origin, detail: 'not an Ed25519 key' }
  return new GatehouseError('InvalidConfiguration', facts, { cause, ...options })
}

const fromBackup = {
  recovery: [
    { action: 'restore a backup', description: 'The file that the message names is damaged.' },
  ],
}

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
    throw notAKey(origin, error, fromBackup)
  }
}

/** The signing key, for those who may read it; null for everybody else. */
const privateKeyIn = (directory: string): KeyObject | null => {
  const file = path.join(directory, keyFile)
  try {
    const pem = readIfThere(file)
    return pem && parsePrivateKey(pem, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return null
    throw error
  }
}

const isOf = (key: KeyObject, verifier: Verifier): boolean =>
  verifierOf(createPublicKey(key)).raw.equals(verifier.raw)

/** Checker of MACs, for those who may read the key that this verifier belongs to; null for everybody else. */
export const sealerBeside = (directory: string, verifier: Verifier): Sealer | null => {
  const key = privateKeyIn(directory)
  return key && isOf(key, verifier) ? sealerOf(key) : null
}

/** Where the signing key can be read, the public key beside it must be its own. */
export const assertPublished = (directory: string, verifier: Verifier): void => {
  const key = privateKeyIn(directory)
  if (key && !isOf(key, verifier)) throw otherPublished(directory)
}

const otherPublished = (directory: string): GatehouseError =>
  new GatehouseError(
    'InvalidConfiguration',
    {
      origin: path.join(directory, publicKeyFile),
      detail: `not the public key of the ${keyFile} beside it`,
    },
    {
      recovery: [
        {
          action: 'start the service',
          description:
            'It writes the file anew and reports it, until somebody runs gatehouse audit acknowledge.',
        },
      ],
    },
  )

/**
 * Random bytes of this install. @SECURITY Every key is as good as any other, so that only the sum beside it tells one of
 * which a bit changed; keys.test.ts.
 */
const assertSum = (file: string, bytes: Uint8Array): 'kept' | 'missing' => {
  const known = readIfThere(sumFileOf(file))
  if (known === null) return 'missing'
  if (known.toString('latin1') === sumLine(file, bytes)) return 'kept'
  const beside = path.basename(sumFileOf(file))
  throw new GatehouseError(
    'InvalidConfiguration',
    { origin: file, detail: `it is not as the service left it, by ${beside}` },
    {
      recovery: [
        {
          action: 'restore a backup',
          description: 'One of the two files was changed or damaged.',
        },
        {
          action: `rm ${sumFileOf(file)}`,
          description:
            'Go on with the key as it is: hashes of sensitive values will differ from those before.',
        },
      ],
    },
  )
}

const sumLine = (file: string, bytes: Uint8Array): string =>
  `${hash('sha256', bytes, 'hex')}  ${path.basename(file)}\n`

const loadRedaction = (file: string): Buffer => {
  const [bytes] = loadOrMake(file, () => randomBytes(32))
  if (assertSum(file, bytes) === 'missing') writeNew(sumFileOf(file), sumLine(file, bytes), 0o400)
  return bytes
}

/** Raises `InvalidConfiguration` for keys that a start refuses or replaces. Only reads. */
export const assertKeys = (directory: string): void => {
  const key = privateKeyIn(directory)
  const published = readIfThere(path.join(directory, publicKeyFile))?.toString()
  if (key && published !== undefined && published !== verifierOf(createPublicKey(key)).pem)
    throw otherPublished(directory)
  const redaction = path.join(directory, redactionFile)
  const bytes = readIfThere(redaction)
  if (bytes) assertSum(redaction, bytes)
}

/** The keys of this install, made at the first start. Never in the database that they vouch for. */
export const loadKeys = (directory: string): Keys => {
  const file = path.join(directory, keyFile)
  const [pem, fresh] = loadOrMake(file, () =>
    String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })),
  )
  const key = parsePrivateKey(pem, file)
  const verifier = verifierOf(createPublicKey(key))
  const publicFile = path.join(directory, publicKeyFile)
  const publish = (): void => writeNew(publicFile, verifier.pem, 0o644)
  const published = readIfThere(publicFile)?.toString()
  if (published === undefined) publish()
  return {
    ...verifier,
    ...sealerOf(key),
    fresh,
    published: published === undefined || published === verifier.pem ? 'own' : 'other',
    publish,
    redaction: loadRedaction(path.join(directory, redactionFile)),
    sign: (message) => sign(null, message, key),
  }
}
