import { GatehouseError } from '@gatehouse/contract'
import type { Log } from '../ports/log.ts'
import { type PairFiles, readPair, stampOf } from './files.ts'
import { ownFault, pairOf } from './judge.ts'
import { type OpenedCertificates, served, watchCertificate } from './open-certificates.ts'

const lookEveryMs = 5_000

/**
 * A certificate that the operator brings, read again whenever its files change. At the start a bad one is
 * refused; later the one before stays active.
 */
export async function openOwnCertificate(options: {
  readonly files: PairFiles
  readonly log: Log
  readonly nowMs?: () => number
  readonly everyMs?: number
}): Promise<OpenedCertificates> {
  const { files, log, nowMs = Date.now, everyMs = lookEveryMs } = options
  const first = readPair(files)
  const fault = ownFault(first, nowMs())
  // Never HTTP instead, and never another certificate than the one that was asked for.
  if (fault !== null)
    throw new GatehouseError('InvalidConfiguration', {
      origin: `tls.cert ${files.cert}, tls.key ${files.key}`,
      detail: fault,
    })
  let stamp = stampOf(files)
  let warnedOf = ''
  return watchCertificate(
    served(pairOf(first)),
    { everyMs, log, origin: 'own', authority: () => null },
    async () => {
      const now = stampOf(files)
      if (now === stamp) return null
      const found = readPair(files)
      const why = ownFault(found, nowMs())
      if (why === null) {
        stamp = now
        log.info({ file: files.cert }, 'the certificate has changed and is active')
        return pairOf(found)
      }
      // Between two writes it is mismatched for a moment, so it is looked at again.
      if (warnedOf !== now)
        log.warn({ file: files.cert, why }, 'the certificate has changed and is not used')
      warnedOf = now
      return null
    },
  )
}
