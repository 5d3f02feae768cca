import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  cryptoProvider,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

cryptoProvider.set(webcrypto as never)

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

export type Issuer = {
  readonly name: string
  readonly keys: webcrypto.CryptoKeyPair
  readonly cert: X509Certificate
  /** PEM of itself and of what stands above it, but for the root. */
  readonly chain: string
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

const always = {
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + 86_400_000),
  signingAlgorithm: algorithm,
}

const ofAuthority = [
  new BasicConstraintsExtension(true, undefined, true),
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
]

const serial = () => `40${randomBytes(8).toString('hex')}`

const pemOf = (cert: X509Certificate): string => `${cert.toString('pem').trim()}\n`

export const issueRoot = async (name: string): Promise<Issuer> => {
  const keys = await newKeys()
  const cert = await X509CertificateGenerator.createSelfSigned({
    ...{ ...always, serialNumber: serial(), name, extensions: ofAuthority, keys: keys as never },
  })
  return { name, keys, cert, chain: '' }
}

export const issueIntermediate = async (above: Issuer, name: string): Promise<Issuer> => {
  const keys = await newKeys()
  const cert = await X509CertificateGenerator.create({
    ...{ ...always, serialNumber: serial(), subject: name, issuer: above.cert.subject },
    publicKey: keys.publicKey as never,
    signingKey: above.keys.privateKey as never,
    extensions: ofAuthority,
  })
  return { name, keys, cert, chain: `${pemOf(cert)}${above.chain}` }
}

/** A certificate for this machine, with all that its server sends. */
export const issueServer = async (
  above: Issuer,
  subject: string,
): Promise<{ readonly cert: string; readonly key: string }> => {
  const keys = await newKeys()
  const cert = await X509CertificateGenerator.create({
    ...{ ...always, serialNumber: serial(), subject, issuer: above.cert.subject },
    publicKey: keys.publicKey as never,
    signingKey: above.keys.privateKey as never,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  })
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  return {
    cert: `${pemOf(cert)}${above.chain}`,
    key: `-----BEGIN PRIVATE KEY-----\n${key.toString('base64')}\n-----END PRIVATE KEY-----\n`,
  }
}

export const rootPem = ({ cert }: Issuer): string => pemOf(cert)
