import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'

const version = '1.0'
const tier = 'autonomous'
const effect = 'none'
const inputs = z.strictObject({})

const info = defineCapability({
  name: 'system.info',
  title: 'Show service info',
  version,
  purpose: 'Show the version of the service and the kind of machine.',
  when_to_use: 'Tells what you are connected to.',
  inputs,
  outputs: z.object({
    name: z.string(),
    version: z.string(),
    platform: z.string(),
    arch: z.string(),
    node: z.string(),
    uptime_seconds: z.int(),
    time: z.string(),
  }),
  tier,
  effect,
  common_patterns: [{ title: 'Which version is this?', arguments: {} }],
  errors: [],
  result_bytes_max: smallResult,
  run: (ctx) => ctx.system.info() as never,
})

const health = defineCapability({
  name: 'system.health',
  title: 'Show service health',
  version,
  purpose: 'Show whether the parts of the service work.',
  when_to_use: 'For calls that fail for no reason of yours.',
  inputs,
  outputs: z.object({
    status: z.string(),
    components: z.array(z.object({ name: z.string(), status: z.string() })),
  }),
  tier,
  effect,
  common_patterns: [{ title: 'Does everything work?', arguments: {} }],
  errors: [],
  result_bytes_max: smallResult,
  run: (ctx) => ctx.system.health() as never,
})

const metrics = defineCapability({
  name: 'system.metrics',
  title: 'Show service metrics',
  version,
  purpose: 'Show how busy processor, memory and disk are.',
  when_to_use: 'Worth a look before heavy work.',
  inputs,
  outputs: z.object({
    uptime_seconds: z.int(),
    cpu_percent: z.number(),
    memory_percent: z.number(),
    disk_percent: z.number(),
    rss_bytes: z.int(),
    heap_used_bytes: z.int(),
  }),
  tier,
  effect,
  common_patterns: [{ title: 'Is there room for heavy work?', arguments: {} }],
  errors: [],
  result_bytes_max: smallResult,
  run: (ctx) => ctx.system.metrics() as never,
})

const time = defineCapability({
  name: 'system.time',
  title: 'Get current time',
  version,
  purpose: 'Show the current time.',
  when_to_use: 'For tasks that depend on the date.',
  inputs: z.strictObject({
    time_zone: z.string().max(64).default('UTC').describe('IANA name such as Europe/Berlin'),
  }),
  outputs: z.object({
    time: z.string(),
    unix_ms: z.int(),
    time_zone: z.string(),
    local: z.string(),
  }),
  tier,
  effect,
  common_patterns: [{ title: 'Time in Tokyo', arguments: { time_zone: 'Asia/Tokyo' } }],
  errors: ['InvalidParams'],
  result_bytes_max: smallResult,
  async run(ctx, { time_zone }) {
    const now = new Date(ctx.clock.wall())
    return {
      time: now.toISOString(),
      unix_ms: now.getTime(),
      time_zone,
      local: localTime(now, time_zone),
    }
  },
})

const localTime = (now: Date, timeZone: string): string => {
  try {
    return new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      dateStyle: 'short',
      timeStyle: 'medium',
    }).format(now)
  } catch (cause) {
    throw new GatehouseError(
      'InvalidParams',
      { detail: `there is no time zone ${timeZone}` },
      { cause },
    )
  }
}

export const systemCapabilities = [info, health, metrics, time]
