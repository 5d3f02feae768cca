import { z } from 'zod'
import { freeIn, mergeBusy } from '../../domain/calendar/free-busy.ts'
import type { Range } from '../../domain/calendar/occurrences.ts'
import { wallText } from '../../domain/calendar/words.ts'
import { wallOf } from '../../domain/calendar/zones.ts'
import { defineCapability } from '../define.ts'
import { freshnessOf, namedCalendars, openAccount, zoneOf } from './account.ts'
import {
  calendarField,
  freshnessField,
  fromField,
  serviceErrors,
  serviceField,
  toField,
  version,
  zoneField,
} from './fields.ts'
import { findOccurrences } from './find-occurrences.ts'
import { rangeOf } from './times.ts'

const usualDays = 7
const daysMax = 92

const rangeShape = {
  start: z.string().describe('UTC.'),
  end: z.string().describe('UTC, excluded.'),
  local_start: z.string().describe('By the clock of time_zone.'),
  local_end: z.string(),
}

export const freeBusy = defineCapability({
  name: 'calendar.free_busy',
  title: 'Find free and busy times',
  version,
  purpose: 'Show when somebody is busy and free between two times, without details.',
  when_to_use:
    'For the events themselves use calendar.search. Days and nights count alike: choose hours that people work.',
  inputs: z.strictObject({
    from: fromField,
    to: toField(usualDays, daysMax),
    calendar: calendarField.describe('One calendar, by id or name. Default: all of them.'),
    time_zone: zoneField,
    least_free_minutes: z
      .int()
      .min(1)
      .max(1_440)
      .default(15)
      .describe('Shorter gaps are no free time.'),
    service: serviceField,
  }),
  outputs: z.object({
    busy: z.array(
      z.object({
        ...rangeShape,
        tentative: z.boolean().describe('Whether it is not certain yet.'),
      }),
    ),
    free: z.array(z.object({ ...rangeShape, minutes: z.int() })),
    time_zone: z.string(),
    truncated: z
      .boolean()
      .describe('Whether there was too much to look at; then nothing is called free.'),
    service: freshnessField,
  }),
  tier: 'autonomous',
  effect: 'none',
  reach: 'open',
  common_patterns: [
    {
      title: 'A free hour on one day',
      arguments: { from: '2026-03-30T09:00', to: '2026-03-30T17:00', least_free_minutes: 60 },
    },
  ],
  errors: [...serviceErrors],
  async run(ctx, args) {
    const service = await openAccount(ctx.services, args.service)
    const zone = args.time_zone ?? zoneOf(service)
    const nowMs = ctx.clock.wall()
    const range = rangeOf(args, zone, { nowMs, usualDays, daysMax })
    const calendars = await namedCalendars(service, args.calendar)
    const { signal } = ctx
    const { found, truncated } = await findOccurrences(service, { calendars, range, signal })
    const busy = mergeBusy(
      found
        .filter(({ one }) => one.face.busy)
        .map(({ one }) => ({
          from_ms: one.start_ms,
          to_ms: one.end_ms,
          tentative: one.face.status === 'tentative',
        })),
      range,
    )
    const shown = ({ from_ms, to_ms }: Range) => ({
      start: new Date(from_ms).toISOString(),
      end: new Date(to_ms).toISOString(),
      local_start: wallText(wallOf(zone, from_ms)),
      local_end: wallText(wallOf(zone, to_ms)),
    })
    const free = truncated ? [] : freeIn(busy, range, args.least_free_minutes * 60_000)
    return {
      busy: busy.map((one) => ({ ...shown(one), tentative: one.tentative })),
      free: free.map((one) => ({
        ...shown(one),
        minutes: Math.floor((one.to_ms - one.from_ms) / 60_000),
      })),
      time_zone: zone,
      truncated,
      service: freshnessOf(service),
    }
  },
})
