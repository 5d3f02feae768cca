import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from './system-failure.ts'

/** Failure as one thread or process tells it another one: anything but an error of ours is a fault of the store. */
export const sentFailure = (
  cause: unknown,
): { readonly type: ErrorType; readonly facts: GatehouseError['facts'] } =>
  cause instanceof GatehouseError
    ? { type: cause.type, facts: cause.facts }
    : { type: 'StorageUnavailable', facts: { detail: describeSystemFailure(cause) } }
