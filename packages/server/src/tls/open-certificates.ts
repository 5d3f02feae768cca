import { hostname } from 'node:os'
import { type Certificate, GatehouseError } from '@gatehouse/contract'
import type { Certificates, ServedCertificate } from '../ports/certificates.ts'
import type { Log } from '../ports/log.ts'
import { describeCertificate } from './describe-certificate.ts'
import { authorityFiles, closeToOthers, leafFiles, readPair, writePair } from './files.ts'
import type { Pair } from './issue.ts'
import {
  authorityFault,
  type Found,
  fingerprintOf,
  isOld,
  isUsual,
  leafFault,
  pairOf,
  signingFault,
} from './judge.ts'
import { permittedBy } from './name-constraints.ts'
import { namesOf } from './names.ts'

export type OpenedCertificates = Certificates &
  Disposable & {
    /** Looks again, and replaces what no longer serves. Says whether it did. */
    refresh(): Promise<boolean>
    /** Fingerprint of the local authority as it now is; null where there is none. */
    authority(): string | null
    /** The certificate and its authority, as people are told of them. */
    describe(): Certificate
  }

export type LocalOptions = {
  readonly directory: string
  /** Names and addresses beyond those of this machine. */
  readonly hosts: readonly string[]
  /** Fingerprint of the only authority that will do; null where this node may make one. */
  readonly authority?: string | null
  readonly log: Log
  readonly nowMs?: () => number
  readonly everyMs?: number
}

const lookEveryMs = 6 * 3_600_000

export const served = ({ cert, key }: Pair): ServedCertificate => ({
  cert,
  key,
  fingerprint: fingerprintOf(cert),
})

/** Reads what is there, and makes what is missing, damaged, mismatched or about to expire. */
async function preparePair({
  directory,
  hosts,
  log,
  authority: only = null,
  nowMs = Date.now,
}: LocalOptions): Promise<Pair> {
  const [authorityAt, leafAt] = [authorityFiles(directory), leafFiles(directory)]
  closeToOthers(authorityAt)
  closeToOthers(leafAt)
  const needed = namesOf(hosts)
  const all = namesOf([...hosts, hostname()])
  let authority = readPair(authorityAt)
  let fault = authorityFault(authority.cert, needed, nowMs())
  if (only !== null && authority.cert !== null && fingerprintOf(authority.cert) !== only)
    throw otherAuthority(authorityAt.cert, 'it is another')
  // A machine whose name has changed keeps its authority, which people have come to trust.
  const namesNow = () => permittedBy(Buffer.from(derOf(authority.cert ?? '')), all)
  if (fault === null) {
    const leaf = readPair(leafAt)
    const why = leafFault(leaf, authority.cert ?? '', namesNow(), nowMs())
    if (why === null) {
      warnOfKey(authority, authorityAt.key, log)
      return pairOf(leaf)
    }
    const facts = { why, files: [leafAt.cert, leafAt.key] }
    log[isUsual(why) ? 'info' : 'warn'](facts, 'the certificate of the dashboard is made anew')
    fault = signingFault(authority)
  }
  if (fault !== null && only !== null && !isOld(fault))
    throw otherAuthority(authorityAt.cert, `it ${fault}`)
  const { issueAuthority, issueLeaf } = await import('./issue.ts')
  if (fault !== null) {
    const first = fault === 'is missing'
    const made = await issueAuthority({ names: all, nowMs: nowMs() })
    writePair(authorityAt, made)
    authority = made
    const facts = { why: fault, fingerprint: fingerprintOf(made.cert), file: authorityAt.cert }
    if (first) log.info(facts, 'made the local certificate authority')
    else log.warn(facts, 'the local certificate authority is new; trust it anew: gatehouse trust')
  }
  const leaf = await issueLeaf({ authority: pairOf(authority), names: namesNow(), nowMs: nowMs() })
  writePair(leafAt, leaf)
  log.info({ fingerprint: fingerprintOf(leaf.cert) }, 'made a certificate for the dashboard')
  return leaf
}

/** Nothing needs the key until the next certificate is signed: until then a backup of it still helps. */
const warnOfKey = (authority: Found, file: string, log: Log): void => {
  const why = signingFault(authority)
  if (why === null || isUsual(why)) return
  log.warn(
    { why, file },
    'the local certificate authority cannot sign: restore its key from a backup, or it is replaced with the next certificate',
  )
}

const otherAuthority = (file: string, detail: string): GatehouseError =>
  new GatehouseError(
    'NodeUnfit',
    { detail: `${file} is not the certificate authority that the nodes share: ${detail}` },
    {
      recovery: [
        {
          action: 'copy tls/ca.pem and tls/ca-key.pem',
          description: 'Copy them from the data directory of a node that serves into this one.',
        },
        {
          action: 'tls.cert, tls.key',
          description: 'Or serve the dashboard with a certificate of your own.',
        },
      ],
    },
  )

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')

/** Certificate that is looked at now and then; listeners are told when it is another. */
export function watchCertificate(
  first: ServedCertificate,
  options: {
    readonly everyMs: number
    readonly log: Log
    readonly origin: Certificate['origin']
    /** The local authority as PEM; null where there is none. */
    readonly authority: () => string | null
  },
  look: () => Promise<Pair | null>,
): OpenedCertificates {
  let now = first
  const listeners = new Set<(next: ServedCertificate) => void>()
  const refresh = async (): Promise<boolean> => {
    const pair = await look()
    if (!pair || (pair.cert === now.cert && pair.key === now.key)) return false
    now = served(pair)
    for (const listener of listeners) listener(now)
    return true
  }
  const timer = setInterval(() => {
    refresh().catch((cause: unknown) =>
      options.log.error({ err: cause }, 'the certificate could not be looked at'),
    )
  }, options.everyMs)
  timer.unref()
  return {
    current: () => now,
    authority() {
      const pem = options.authority()
      return pem === null ? null : fingerprintOf(pem)
    },
    describe: () => describeCertificate(options.origin, now.cert, options.authority()),
    refresh,
    onChange(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** The certificate of this installation, by its own authority: made at the first start, kept good after. */
export async function openLocalCertificates(options: LocalOptions): Promise<OpenedCertificates> {
  const { everyMs = lookEveryMs, log } = options
  const authority = () => readPair(authorityFiles(options.directory)).cert
  const first = served(await preparePair(options))
  // While it serves it may renew the authority, and says so to the others.
  return watchCertificate(first, { everyMs, log, origin: 'local', authority }, () =>
    preparePair({ ...options, authority: null }),
  )
}
