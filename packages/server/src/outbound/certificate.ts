import { createHash, X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { type CertificateIdentity, certificateIdentity } from '../domain/upstream/certificate.ts'

const textOf = (value: string | readonly string[] | undefined): string | null =>
  [value].flat().filter(Boolean).join(', ') || null

/** The last of the chain that was checked: its issuer is itself, or not here. */
const rootOf = (leaf: DetailedPeerCertificate): DetailedPeerCertificate => {
  let at = leaf
  const seen = new Set<string>()
  while (at.issuerCertificate && !seen.has(at.fingerprint256)) {
    seen.add(at.fingerprint256)
    at = at.issuerCertificate
  }
  return at
}

/** Identity of the other side, once its certificate was checked. */
export const certificateOf = (socket: TLSSocket): CertificateIdentity => {
  const leaf = socket.getPeerCertificate(true)
  const root = rootOf(leaf)
  const { publicKey } = new X509Certificate(root.raw)
  const { CN, O, OU } = root.subject
  const names = [textOf(CN), textOf(OU), textOf(O)].filter((name) => name !== null)
  return certificateIdentity({
    organisation: textOf(leaf.subject.O),
    authority: [...new Set(names)].join(', ') || 'an authority without a name',
    authority_key: createHash('sha256')
      .update(publicKey.export({ format: 'der', type: 'spki' }))
      .digest('hex'),
  })
}
