import type { Clock } from '../../ports/clock.ts'

type Clocks = Pick<Clock, 'wall' | 'now'>

/**
 * The two clocks are read one after the other and round by themselves, so their distance seems to change all the
 * time. A change of less than this is none, or one moment would be told as several.
 */
const unsureMs = 100

const distances = new WeakMap<Clocks, number>()

const distanceOf = (clock: Clocks): number => {
  const measured = clock.wall() - clock.now()
  const known = distances.get(clock)
  if (known !== undefined && Math.abs(measured - known) < unsureMs) return known
  distances.set(clock, measured)
  return measured
}

/** A moment of the service clock as people read it. What counts is the service clock. */
export const wallTime = (clock: Clocks, serviceMs: number): string =>
  new Date(serviceMs + distanceOf(clock)).toISOString()
