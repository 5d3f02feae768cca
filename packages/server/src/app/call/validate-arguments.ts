import { type CapabilityError, GatehouseError, nearest, type Recovery } from '@gatehouse/contract'
import type { Explained } from '@gatehouse/contract/explain-issue'
import { freezeDeep } from '../../domain/arguments.ts'
import { failureOf } from '../../domain/failure.ts'
import type { Capability } from '../../ports/capability.ts'
import type { UnreadableValue } from './invoke.ts'

type Validated =
  | { readonly kind: 'valid'; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'invalid'; readonly error: CapabilityError }

const unreadableShownMax = 20

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part, i) =>
      typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`,
    )
    .join('') || 'arguments'

const actions = { missing: 'add', unknown: 'remove', wrong: 'fix' } as const

const stepOf = ({ path, kind, detail }: Explained, names: readonly string[]): Recovery => {
  const at = pathText(path)
  const [meant] = kind === 'unknown' && path.length === 1 ? nearest(at, names) : []
  return {
    action: meant === undefined ? `${actions[kind]} ${at}` : `rename ${at} to ${meant}`,
    description: `${at} ${detail}`,
  }
}

const invalid = (capability: Capability, steps: readonly Recovery[]): Validated => {
  const error = new GatehouseError('InvalidArguments', {
    capability: capability.name,
    detail: steps.map((step) => step.description).join(' '),
  })
  return { kind: 'invalid', error: failureOf(error, steps) }
}

/** Arguments with values that mean one thing to one reader and another to the next. */
const unreadableArguments = (
  capability: Capability,
  values: readonly UnreadableValue[],
): Validated => {
  const shown = values.slice(0, unreadableShownMax)
  const steps = shown.map(({ at, detail }) => ({
    action: `fix ${at}`,
    description: `${at}: ${detail}.`,
  }))
  return invalid(capability, steps)
}

/** Checks the arguments against the closed schema, fills the defaults and freezes the result. */
export const validateArguments = (
  capability: Capability,
  given: unknown,
  unreadable?: readonly UnreadableValue[],
): Validated => {
  if (unreadable) return unreadableArguments(capability, unreadable)
  const parsed = capability.parse(given ?? {})
  if (parsed.kind === 'valid') return { kind: 'valid', args: freezeDeep(parsed.args) }
  return invalid(
    capability,
    parsed.problems.map((problem) => stepOf(problem, capability.argument_names)),
  )
}
