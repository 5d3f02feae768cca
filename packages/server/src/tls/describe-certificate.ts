import { X509Certificate } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Certificate } from '@gatehouse/contract'

const iso = (text: string): string => new Date(text).toISOString()

/** OpenSSL writes all groups of an IPv6 address; people and addresses in a browser have the short form. */
const shortAddress = (address: string): string =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address

/** Facts about a certificate and about the local authority that signed it, both as PEM. */
export function describeCertificate(
  origin: Certificate['origin'],
  cert: string,
  authority: string | null,
): Certificate {
  const read = new X509Certificate(cert)
  const signer = authority === null ? null : new X509Certificate(authority)
  return {
    origin,
    fingerprint: read.fingerprint256,
    names: (read.subjectAltName ?? '')
      .split(', ')
      .filter((name) => name !== '')
      .map((name) => shortAddress(name.replace(/^(?:DNS|IP Address):/, ''))),
    valid_from: iso(read.validFrom),
    valid_until: iso(read.validTo),
    authority:
      signer === null
        ? null
        : {
            fingerprint: signer.fingerprint256,
            valid_until: iso(signer.validTo),
            pem: signer.toString(),
          },
  }
}
