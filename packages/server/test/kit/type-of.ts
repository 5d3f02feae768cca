import { GatehouseError } from '@gatehouse/contract'
import type { Awaitable } from '../../src/domain/awaitable.ts'

/** The type of the error that a step ends in. */
export const typeOf = async (step: Awaitable<unknown>): Promise<string> => {
  try {
    await step
    return 'done'
  } catch (error) {
    if (error instanceof GatehouseError) return error.type
    throw error
  }
}
