import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { calendarsOf, freshnessOf, openAccount, zoneOf } from './account.ts'
import { freshnessField, serviceField, version } from './fields.ts'

export const calendars = defineCapability({
  name: 'calendar.calendars',
  title: 'List calendars',
  version,
  purpose: 'List the calendars of an account and whether you can write to them.',
  when_to_use:
    'Call it before calendar.create where there are several. To see events use calendar.search.',
  inputs: z.strictObject({ service: serviceField }),
  outputs: z.object({
    calendars: z.array(
      z.object({
        calendar: z.string().describe('Name for the other capabilities.'),
        name: z.string(),
        description: z.string(),
        writable: z.boolean(),
        events: z.int(),
      }),
    ),
    time_zone: z.string().describe('Of times that name none.'),
    service: freshnessField,
  }),
  tier: 'autonomous',
  effect: 'none',
  reach: 'open',
  common_patterns: [{ title: 'All calendars', arguments: {} }],
  errors: ['ServiceNotFound', 'ServiceAmbiguous'],
  async run(ctx, args) {
    const service = await openAccount(ctx.services, args.service)
    const counts = new Map(
      (await service.collections('recurring')).map((one) => [one.collection, one.entries]),
    )
    return {
      calendars: (await calendarsOf(service)).map(({ path, id, name, description, writable }) => ({
        calendar: id,
        name,
        description,
        writable,
        events: counts.get(path) ?? 0,
      })),
      time_zone: zoneOf(service),
      service: freshnessOf(service),
    }
  },
})
