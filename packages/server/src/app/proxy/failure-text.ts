import { GatehouseError, type WriteError } from '@gatehouse/contract'
import type { WriteReason } from '../../ports/service-adapter.ts'
import { TimeUp } from '../call/within.ts'
import type { ProxyDeps } from './deps.ts'

const charsMax = 500

/** Failure in words for people: never a credential, never more than they would read. */
export const failureText = ({ secrets }: Pick<ProxyDeps, 'secrets'>, cause: unknown): string => {
  const text =
    cause instanceof GatehouseError && typeof cause.facts['detail'] === 'string'
      ? cause.facts['detail']
      : cause instanceof Error && (cause instanceof GatehouseError || cause instanceof TimeUp)
        ? cause.message
        : 'it failed unexpectedly; the log of the service says how'
  return secrets.scrub(text).slice(0, charsMax)
}

/** An error of the table as a record keeps it, with what the adapter would do about it. */
export const writeError = (error: GatehouseError, reason?: WriteReason): WriteError => ({
  type: error.type,
  message: error.message,
  recovery: [
    ...(reason?.fix ? [{ action: 'fix', description: reason.fix }] : []),
    ...error.recovery,
  ],
})

/** Error of a write that may or may not have taken place: a person looks, and decides. */
export const outcomeUnknown = (reason: WriteReason): WriteError => ({
  type: 'OutcomeUnknown',
  message: `Whether the write took place is not known: ${reason.detail}`,
  recovery: [
    ...(reason.fix ? [{ action: 'fix', description: reason.fix }] : []),
    {
      action: 'look',
      description: 'Look at the service whether it is there. It is not sent again by itself.',
    },
    {
      action: 'proxy retry or discard',
      description: 'An operator sends it again if it is not there, or discards it if it is.',
    },
  ],
})
