import { GatehouseError } from '@gatehouse/contract'
import { failureOf } from '../../domain/failure.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { UnknownCapability } from './invoke.ts'

/** The start of a name that nobody defined: a whole one can be as long as a request. */
const nameCharactersMax = 128

export const unknownCapability = (
  registry: Pick<CapabilityRegistry, 'similar'>,
  name: string,
): UnknownCapability => {
  const capability = name.slice(0, nameCharactersMax)
  return {
    kind: 'unknown',
    capability,
    error: failureOf(new GatehouseError('UnknownCapability', { capability })),
    did_you_mean: registry.similar(name),
  }
}
