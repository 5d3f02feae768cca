import { GatehouseError } from '@gatehouse/contract'
import type {
  CaptureRefusal,
  WriteOutcome,
  WriteReason,
} from '../../../../ports/service-adapter.ts'

/** An error in the words that were made for people; anything else is named as little as it says. */
export const reasonOf = (error: unknown): WriteReason => {
  if (error instanceof GatehouseError) {
    const { detail } = error.facts
    return { detail: typeof detail === 'string' ? detail : error.message }
  }
  return { detail: 'it failed unexpectedly' }
}

export const refused = (detail: string, fix?: string): CaptureRefusal => ({
  kind: 'refused',
  reason: { detail, ...(fix === undefined ? {} : { fix }) },
})

export const never = (detail: string, fix?: string): WriteOutcome => ({
  kind: 'not_executed',
  reason: { detail, ...(fix === undefined ? {} : { fix }) },
  retry: 'never',
})

/** Before anything was changed it provably did not happen; afterwards nobody knows. */
export const failedAt = (error: unknown, touched: boolean): WriteOutcome =>
  touched
    ? { kind: 'unknown', reason: reasonOf(error) }
    : { kind: 'not_executed', reason: reasonOf(error), retry: { after_ms: null } }
