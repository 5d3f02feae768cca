import type { Capability } from '@gatehouse/server/ports/capability'

/** The arguments as the gate hands them to a capability; throws where they do not fit. */
export const parseArguments = (capability: Pick<Capability, 'parse'>, given: unknown): never => {
  const parsed = capability.parse(given)
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  return parsed.args as never
}
