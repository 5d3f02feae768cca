import type { Field } from './field.ts'
import { parseValue } from './parse.ts'
import { refuse } from './refuse.ts'
import type { Surroundings } from './surroundings.ts'

const operationForm = /^[a-z][a-z0-9-]*\.[a-z][a-z0-9_]*$/

const delay: Field = {
  key: 'proxy.delays',
  type: 'duration',
  default: null,
  min: 0,
  max: 7 * 86_400_000,
  description: '',
}

/** Seconds by operation, such as `mail.send`. */
export const delaysOf = (
  lines: readonly string[],
  { origin }: Surroundings,
): ReadonlyMap<string, number> => {
  const delays = new Map<string, number>()
  for (const line of lines) {
    const [operation = '', duration = '', ...rest] = line.split('=').map((part) => part.trim())
    if (!operationForm.test(operation) || duration === '' || rest.length > 0)
      refuse(origin, 'proxy.delays must hold operation=duration, such as mail.send=60s')
    if (delays.has(operation)) refuse(origin, `proxy.delays has two delays of ${operation}`)
    delays.set(operation, (parseValue(delay, duration, origin) as number) / 1000)
  }
  return delays
}
