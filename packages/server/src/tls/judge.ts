import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Pair } from './issue.ts'
import { permittedBy } from './name-constraints.ts'
import type { Names } from './names.ts'

const renewBelowMs = 30 * 86_400_000

/** Text read from disk, so anything at all. */
export type Found = { readonly cert: string | null; readonly key: string | null }

const parse = (pem: string | null): X509Certificate | null => {
  if (pem === null) return null
  try {
    const cert = new X509Certificate(pem)
    // A damaged key inside of a certificate shows when it is read first.
    return cert.publicKey ? cert : null
  } catch {
    return null
  }
}

const parseKey = (pem: string | null): KeyObject | null => {
  try {
    return pem === null ? null : createPrivateKey(pem)
  } catch {
    return null
  }
}

const sample = Buffer.from('gatehouse')

/**
 * Whether the key signs what the certificate verifies. @SECURITY A private key carries the public one along, which stays as
 * it was when a bit of the private part changes: the comparison of OpenSSL alone passes it; certificates.test.ts.
 */
const fits = (cert: X509Certificate, secret: KeyObject): boolean => {
  try {
    return (
      cert.checkPrivateKey(secret) &&
      verify(null, sample, cert.publicKey, sign(null, sample, secret))
    )
  } catch {
    return false
  }
}

const timeFault = (cert: X509Certificate, nowMs: number): string | null => {
  if (Date.parse(cert.validFrom) > nowMs) return 'is not valid yet'
  const leftMs = Date.parse(cert.validTo) - nowMs
  if (leftMs <= 0) return 'has expired'
  return leftMs < renewBelowMs ? 'expires within 30 days' : null
}

/** Whether a fault is one of time alone: the authority was right, and a new one has to follow it. */
export const isOld = (fault: string): boolean => fault.includes('expire')

/** Whether a fault comes with use: what is not there yet, grew old, or lacks a name that was configured since. */
export const isUsual = (fault: string): boolean =>
  isOld(fault) || ['is missing', 'has lost its key', 'lacks a name'].includes(fault)

/** Whether an authority is not as it was left: what time and configuration ask for is no damage. */
export const isDamage = (fault: string): boolean =>
  ['is damaged', 'is no authority', 'is missing beside its key'].includes(fault)

/** Whether a certificate with this fault can be served until another one can be signed. */
export const isServable = (fault: string): boolean =>
  ['expires within 30 days', 'lacks a name'].includes(fault)

const covers = (cert: X509Certificate, { dns, ip }: Names): boolean =>
  dns.every((name) => cert.checkHost(name, { subject: 'never' }) !== undefined) &&
  ip.every((address) => isIP(address) !== 0 && cert.checkIP(address) !== undefined)

/** Why an authority can no longer be the one of this installation; null if it can. */
export function authorityFault(
  { cert: pem, key }: Found,
  needed: Names,
  nowMs: number,
): string | null {
  if (pem === null) return key === null ? 'is missing' : 'is missing beside its key'
  const cert = parse(pem)
  if (!cert) return 'is damaged'
  if (!cert.ca || !cert.verify(cert.publicKey)) return 'is no authority'
  const permitted = permittedBy(cert.raw, needed)
  if (permitted.dns.length < needed.dns.length || permitted.ip.length < needed.ip.length)
    return 'may not vouch for every configured name'
  return timeFault(cert, nowMs)
}

/** Why an authority cannot sign; null if it can. */
export function signingFault({ cert, key }: Found): string | null {
  if (key === null) return 'has lost its key'
  const [parsed, secret] = [parse(cert), parseKey(key)]
  if (!secret) return 'has a damaged key'
  return parsed && fits(parsed, secret) ? null : 'has the key of another'
}

/** Why the certificate of the server has to be made anew; null if it is good. */
export function leafFault(
  { cert, key }: Found,
  authorityPem: string,
  names: Names,
  nowMs: number,
): string | null {
  if (cert === null || key === null) return 'is missing'
  const [parsed, secret, authority] = [parse(cert), parseKey(key), parse(authorityPem)]
  if (!parsed || !secret || !authority) return 'is damaged'
  if (!fits(parsed, secret)) return 'has the key of another'
  if (!parsed.checkIssued(authority) || !parsed.verify(authority.publicKey))
    return 'is of another authority'
  if (!covers(parsed, names)) return 'lacks a name'
  return timeFault(parsed, nowMs)
}

/** Why a certificate that an operator names cannot be served; null if it can. */
export function ownFault({ cert, key }: Found, nowMs: number): string | null {
  if (cert === null || key === null) return 'cannot be read'
  const [parsed, secret] = [parse(cert), parseKey(key)]
  if (!parsed || !secret) return 'is damaged'
  if (!fits(parsed, secret)) return 'has the key of another'
  return Date.parse(parsed.validTo) <= nowMs ? 'has expired' : null
}

export const fingerprintOf = (pem: string): string => new X509Certificate(pem).fingerprint256

/** A pair that has been judged good. */
export const pairOf = ({ cert, key }: Found): Pair => ({ cert: cert ?? '', key: key ?? '' })
