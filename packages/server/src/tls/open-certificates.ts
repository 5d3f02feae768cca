import { hostname } from 'node:os'
import type { Certificates, ServedCertificate } from '../ports/certificates.ts'
import type { Log } from '../ports/log.ts'
import { authorityFiles, closeToOthers, leafFiles, readPair, writePair } from './files.ts'
import type { Pair } from './issue.ts'
import { authorityFault, fingerprintOf, leafFault, pairOf, signingFault } from './judge.ts'
import { permittedBy } from './name-constraints.ts'
import { namesOf } from './names.ts'

export type OpenedCertificates = Certificates &
  Disposable & {
    /** Looks again, and replaces what no longer serves. Says whether it did. */
    refresh(): Promise<boolean>
  }

export type LocalOptions = {
  readonly directory: string
  /** Names and addresses beyond those of this machine. */
  readonly hosts: readonly string[]
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
  nowMs = Date.now,
}: LocalOptions): Promise<Pair> {
  const [authorityAt, leafAt] = [authorityFiles(directory), leafFiles(directory)]
  closeToOthers(authorityAt)
  closeToOthers(leafAt)
  const needed = namesOf(hosts)
  const all = namesOf([...hosts, hostname()])
  let authority = readPair(authorityAt)
  let fault = authorityFault(authority.cert, needed, nowMs())
  // A machine whose name has changed keeps its authority, which people have come to trust.
  const namesNow = () => permittedBy(Buffer.from(derOf(authority.cert ?? '')), all)
  if (fault === null) {
    const leaf = readPair(leafAt)
    const why = leafFault(leaf, authority.cert ?? '', namesNow(), nowMs())
    if (why === null) return pairOf(leaf)
    log.info({ why }, 'the certificate of the dashboard is made anew')
    fault = signingFault(authority)
  }
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

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')

/** Certificate that is looked at now and then; listeners are told when it is another. */
export function watchCertificate(
  first: ServedCertificate,
  options: { readonly everyMs: number; readonly log: Log },
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
  return watchCertificate(served(await preparePair(options)), { everyMs, log }, () =>
    preparePair(options),
  )
}
