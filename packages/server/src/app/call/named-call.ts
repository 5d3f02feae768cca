import { anyCapability, capabilityName, nameCharsMax } from '@gatehouse/contract'
import type { InvokeInput } from './invoke.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const inside = 'arguments.'

/**
 * The call that is meant: of `tools.call` the one that it names, so that policy, limits, approvals and the
 * log see that one alone. What does not fit is left as it is, and refused by its arguments.
 */
export const namedCall = (sent: InvokeInput): InvokeInput => {
  if (sent.capability !== anyCapability || !isObject(sent.arguments)) return sent
  const { name, arguments: args = {}, ...others } = sent.arguments
  if (typeof name !== 'string' || name === '' || name.length > nameCharsMax) return sent
  if (!isObject(args) || Object.keys(others).length > 0) return sent
  const capability = capabilityName(name)
  // @SECURITY One step: a chain of wrappers would be work for nothing; named-call.test.ts.
  if (capability === anyCapability) return sent
  const { unreadable, ...rest } = sent
  const call = { ...rest, capability, arguments: args }
  if (!unreadable) return call
  if (!unreadable.every(({ at }) => at.startsWith(inside))) return sent
  const values = unreadable.map(({ at, detail }) => ({ at: at.slice(inside.length), detail }))
  return { ...call, unreadable: values }
}
