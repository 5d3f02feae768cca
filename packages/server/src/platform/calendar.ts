import { GatehouseError } from '@gatehouse/contract'
import { Cron } from 'croner'
import type { Calendar } from '../ports/schedules.ts'

const patternsKept = 1_000

const parse = (cron: string, timeZone: string): Cron => {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    throw new GatehouseError('InvalidSchedule', { detail: `there is no time zone ${timeZone}` })
  }
  try {
    return new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true })
  } catch (cause) {
    const detail = `"${cron}" is not five cron fields: minute, hour, day of month, month, day of week`
    throw new GatehouseError('InvalidSchedule', { detail }, { cause })
  }
}

/** Five cron fields in a time zone. Nothing runs by itself here: it only says when. */
export const createCalendar = (): Calendar => {
  const known = new Map<string, Cron>()
  return {
    next(cron, timeZone, afterMs) {
      const key = `${timeZone} ${cron}`
      const pattern = known.get(key) ?? parse(cron, timeZone)
      if (known.size >= patternsKept) known.clear()
      known.set(key, pattern)
      return pattern.nextRun(new Date(afterMs))?.getTime() ?? null
    },
  }
}
