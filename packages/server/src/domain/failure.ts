import type { CapabilityError, GatehouseError, Recovery } from '@gatehouse/contract'

/** Failure as an agent is told of it: type, sentence and what to do next; never the cause. */
export const failureOf = (
  error: GatehouseError,
  extra: readonly Recovery[] = [],
): CapabilityError => ({
  type: error.type,
  message: error.message,
  recovery: [...extra, ...error.recovery],
})
