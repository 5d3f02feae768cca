import { GatehouseError } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'

/** The time that a person gave, or now. */
export const wallTimeOf = (clock: Pick<Clock, 'wall'>, at: string | undefined): number => {
  const ms = at === undefined ? clock.wall() : Date.parse(at)
  if (Number.isNaN(ms))
    throw new GatehouseError('InvalidParams', { detail: 'at is not an ISO 8601 time' })
  return ms
}
