import { GatehouseError } from '@gatehouse/contract'

/** Refuses a setting, with where it came from. */
export const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}
