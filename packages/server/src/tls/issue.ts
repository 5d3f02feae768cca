import 'reflect-metadata'
import { createPrivateKey, createPublicKey, randomBytes, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { nameConstraints } from './name-constraints.ts'
import type { Names } from './names.ts'

// Loaded only when a certificate has to be made: the library takes longer than the rest of a start.
cryptoProvider.set(webcrypto as never)

export type Pair = { readonly cert: string; readonly key: string }

const dayMs = 86_400_000
const authorityDays = 3_650
const leafDays = 397
/** Clocks of other machines may be a little behind. */
const earlierMs = 3_600_000
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const nameConstraintsOid = '2.5.29.30'

type CryptoKeyPair = webcrypto.CryptoKeyPair

const newKeys = (): Promise<CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

const pemOfKey = async ({ privateKey }: CryptoKeyPair): Promise<string> => {
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey))
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString()
}

const keysOfPem = async (pem: string): Promise<CryptoKeyPair> => {
  const secret = createPrivateKey(pem)
  const [pkcs8, spki] = [
    secret.export({ format: 'der', type: 'pkcs8' }),
    createPublicKey(secret).export({ format: 'der', type: 'spki' }),
  ]
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
    webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
  ])
  return { privateKey, publicKey }
}

/** Positive, and of 127 random bits. */
const serial = (): string => {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

const textOf = (cert: X509Certificate): string => `${cert.toString('pem').trim()}\n`

/** A new authority of this installation, for these names and no others. */
export async function issueAuthority(input: {
  readonly names: Names
  readonly nowMs: number
}): Promise<Pair> {
  const keys = await newKeys()
  const cert = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    // Two installations on one machine are two lines in its list of authorities.
    name: `CN=Gatehouse local authority ${randomBytes(4).toString('hex')}, O=Gatehouse`,
    notBefore: new Date(input.nowMs - earlierMs),
    notAfter: new Date(input.nowMs + authorityDays * dayMs),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new Extension(nameConstraintsOid, true, new Uint8Array(nameConstraints(input.names))),
      await SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  })
  return { cert: textOf(cert), key: await pemOfKey(keys) }
}

/** A certificate of the server for these names, by that authority. */
export async function issueLeaf(input: {
  readonly authority: Pair
  readonly names: Names
  readonly nowMs: number
}): Promise<Pair> {
  const issuer = new X509Certificate(input.authority.cert)
  const [keys, authorityKeys] = await Promise.all([newKeys(), keysOfPem(input.authority.key)])
  const notAfterMs = Math.min(input.nowMs + leafDays * dayMs, issuer.notAfter.getTime())
  const cert = await X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: 'CN=Gatehouse dashboard, O=Gatehouse',
    issuer: issuer.subject,
    notBefore: new Date(input.nowMs - earlierMs),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey as never,
    signingKey: authorityKeys.privateKey as never,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        ...input.names.dns.map((value) => ({ type: 'dns' as const, value })),
        ...input.names.ip.map((value) => ({ type: 'ip' as const, value })),
      ]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey as never),
      await AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey as never),
    ],
  })
  return { cert: textOf(cert), key: await pemOfKey(keys) }
}

/** A certificate by which other nodes know this one: signed by nobody, since they are told its fingerprint. */
export async function issueOwn(input: {
  readonly name: string
  readonly nowMs: number
}): Promise<Pair> {
  const keys = await newKeys()
  const cert = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${input.name}, O=Gatehouse`,
    notBefore: new Date(input.nowMs - earlierMs),
    notAfter: new Date(input.nowMs + authorityDays * dayMs),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    ],
  })
  return { cert: textOf(cert), key: await pemOfKey(keys) }
}
