import { GatehouseError } from '@gatehouse/contract'
import type { Field } from './fields.ts'
import { parseValue, type Value } from './parse.ts'

export type ProxyValues = {
  /** By operation, such as `mail.send`. */
  readonly delaySeconds: ReadonlyMap<string, number>
  readonly burst: { readonly limit: number; readonly windowMs: number }
  readonly rollbackMs: number
  /** Null: as each adapter says. */
  readonly syncEverySeconds: number | null
}

type Get = <T extends Value>(
  key:
    | 'proxy.delays'
    | 'proxy.burst_limit'
    | 'proxy.burst_window'
    | 'proxy.rollback_kept'
    | 'proxy.sync_every',
) => T

const operationForm = /^[a-z][a-z0-9-]*\.[a-z][a-z0-9_]*$/

const delay: Field = {
  key: 'proxy.delays',
  type: 'duration',
  default: null,
  min: 0,
  max: 7 * 86_400_000,
  description: '',
}

function delaysOf(lines: readonly string[], origin: string): ReadonlyMap<string, number> {
  const delays = new Map<string, number>()
  const refuse = (detail: string): never => {
    throw new GatehouseError('InvalidConfiguration', { origin, detail })
  }
  for (const line of lines) {
    const [operation = '', duration = '', ...rest] = line.split('=').map((part) => part.trim())
    if (!operationForm.test(operation) || duration === '' || rest.length > 0)
      refuse('proxy.delays must hold operation=duration, such as mail.send=60s')
    if (delays.has(operation)) refuse(`proxy.delays has two delays of ${operation}`)
    delays.set(operation, (parseValue(delay, duration, origin) as number) / 1000)
  }
  return delays
}

/** How services are read and how long writes are held, checked. */
export function proxyOf(get: Get, origins: Readonly<Record<string, string>>): ProxyValues {
  const everyMs = get<number | null>('proxy.sync_every')
  return {
    delaySeconds: delaysOf(get('proxy.delays'), origins['proxy.delays'] ?? 'proxy.delays'),
    burst: { limit: get('proxy.burst_limit'), windowMs: get('proxy.burst_window') },
    rollbackMs: get('proxy.rollback_kept'),
    syncEverySeconds: everyMs === null ? null : everyMs / 1000,
  }
}
