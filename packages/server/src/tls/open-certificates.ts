import { hostname } from 'node:os'
import { type Certificate, GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { Certificates, ServedCertificate } from '../ports/certificates.ts'
import type { Log } from '../ports/log.ts'
import { describeCertificate } from './describe-certificate.ts'
import {
  authorityFiles,
  closeToOthers,
  leafFiles,
  type PairFiles,
  readPair,
  writePair,
} from './files.ts'
import type { Pair } from './issue.ts'
import {
  authorityFault,
  fingerprintOf,
  isDamage,
  isOld,
  isServable,
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
    /** Fault that a person has to mend before the next certificate; null where there is none. */
    warning(): string | null
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

type Prepared = {
  readonly pair: Pair
  /** Why the authority cannot sign the next certificate; null where it can, or where its key is kept elsewhere. */
  readonly warning: string | null
}

/**
 * Reads what is there, and makes what is missing, mismatched or about to expire. @SECURITY A damaged authority is never replaced
 * by itself: clients that trust the old one would have to trust whatever they are shown; certificates.test.ts.
 */
async function preparePair(options: LocalOptions): Promise<Prepared> {
  const { directory, hosts, log, authority: only = null, nowMs = Date.now } = options
  const [authorityAt, leafAt] = [authorityFiles(directory), leafFiles(directory)]
  closeToOthers(authorityAt)
  closeToOthers(leafAt)
  const needed = namesOf(hosts)
  const all = namesOf([...hosts, hostname()])
  let authority = readPair(authorityAt)
  const fault = authorityFault(authority, needed, nowMs())
  if (only !== null) assertShared(authority.cert, fault, only, authorityAt.cert)
  if (fault !== null && isDamage(fault))
    throw damagedAuthority(authorityAt, authorityAt.cert, fault)
  // A machine whose name has changed keeps its authority, which people have come to trust.
  const namesNow = () => permittedBy(Buffer.from(derOf(authority.cert ?? '')), all)
  if (fault === null) {
    const leaf = readPair(leafAt)
    const why = leafFault(leaf, authority.cert ?? '', namesNow(), nowMs())
    const unable = signingFault(authority)
    if (why === null || (unable !== null && isServable(why)))
      return { pair: pairOf(leaf), warning: warningOf(unable, why, authorityAt.key) }
    if (unable !== null) throw damagedAuthority(authorityAt, authorityAt.key, unable)
    const facts = { why, files: [leafAt.cert, leafAt.key] }
    log[isUsual(why) ? 'info' : 'warn'](facts, 'the certificate of the dashboard is made anew')
  }
  const { issueAuthority, issueLeaf } = await import('./issue.ts')
  if (fault !== null) {
    const made = await issueAuthority({ names: all, nowMs: nowMs() })
    writePair(authorityAt, made)
    authority = made
    const facts = { why: fault, fingerprint: fingerprintOf(made.cert), file: authorityAt.cert }
    if (fault === 'is missing') log.info(facts, 'made the local certificate authority')
    else log.warn(facts, 'the local certificate authority is new; trust it anew: gatehouse trust')
  }
  const leaf = await issueLeaf({ authority: pairOf(authority), names: namesNow(), nowMs: nowMs() })
  writePair(leafAt, leaf)
  log.info({ fingerprint: fingerprintOf(leaf.cert) }, 'made a certificate for the dashboard')
  return { pair: leaf, warning: null }
}

/** Nodes share one authority, which only age replaces. */
const assertShared = (
  cert: string | null,
  fault: string | null,
  only: string,
  file: string,
): void => {
  if (cert !== null && fault !== 'is damaged' && fingerprintOf(cert) !== only)
    throw otherAuthority(file, 'it is another')
  if (fault !== null && !isOld(fault)) throw otherAuthority(file, `it ${fault}`)
}

/** Nothing needs the key until the next certificate is signed, so that it may be kept elsewhere until then. */
const warningOf = (unable: string | null, why: string | null, file: string): string | null =>
  unable === null || (why === null && isUsual(unable))
    ? null
    : `the certificate authority cannot sign the next certificate: ${file} ${unable}; restore it from a backup`

const damagedAuthority = ({ cert, key }: PairFiles, file: string, fault: string): GatehouseError =>
  new GatehouseError(
    'InvalidConfiguration',
    { origin: file, detail: `the certificate authority of the dashboard ${fault}` },
    {
      recovery: [
        { action: `restore ${file}`, description: 'Take it from a backup of this installation.' },
        {
          action: `rm ${cert} ${key}`,
          description:
            'Or begin with a new authority, which each client that trusts this one has to trust anew: gatehouse trust.',
        },
      ],
    },
  )

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
    readonly warning?: () => string | null
  },
  look: () => Promise<Pair | null>,
): OpenedCertificates {
  let now = first
  let failure: string | null = null
  const listeners = new Set<(next: ServedCertificate) => void>()
  const refresh = async (): Promise<boolean> => {
    const pair = await look()
    failure = null
    if (!pair || (pair.cert === now.cert && pair.key === now.key)) return false
    now = served(pair)
    for (const listener of listeners) listener(now)
    return true
  }
  const timer = setInterval(() => {
    refresh().catch((cause: unknown) => {
      failure = cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause)
      options.log.error({ err: cause }, 'the certificate could not be looked at')
    })
  }, options.everyMs)
  timer.unref()
  return {
    current: () => now,
    authority() {
      const pem = options.authority()
      return pem === null ? null : fingerprintOf(pem)
    },
    describe: () => describeCertificate(options.origin, now.cert, options.authority()),
    warning: () => failure ?? options.warning?.() ?? null,
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
  let warning: string | null = null
  const prepare = async (given: LocalOptions): Promise<Pair> => {
    const prepared = await preparePair(given)
    if (prepared.warning !== null && prepared.warning !== warning)
      log.warn({ file: authorityFiles(options.directory).key }, prepared.warning)
    warning = prepared.warning
    return prepared.pair
  }
  const first = served(await prepare(options))
  // While it serves it may renew the authority, and says so to the others.
  return watchCertificate(
    first,
    { everyMs, log, origin: 'local', authority, warning: () => warning },
    () => prepare({ ...options, authority: null }),
  )
}
