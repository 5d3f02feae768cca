import type { CapabilityError, GatehouseError, Recovery } from '@gatehouse/contract'

/** What an agent is told of a failure: type, sentence and what to do next; never the cause. */
export const failureOf = (
  error: GatehouseError,
  extra: readonly Recovery[] = [],
): CapabilityError => ({
  type: error.type,
  message: error.message,
  recovery: [...extra, ...error.recovery],
})
