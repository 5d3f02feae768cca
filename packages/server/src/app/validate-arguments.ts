import { type CapabilityError, GatehouseError, type Recovery } from '@gatehouse/contract'
import type { z } from 'zod'
import { freezeDeep } from '../domain/arguments.ts'
import { failureOf } from '../domain/failure.ts'
import type { Capability } from '../ports/capability.ts'
import type { UnreadableValue } from './app.ts'

type Validated =
  | { readonly kind: 'valid'; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'invalid'; readonly error: CapabilityError }

const unreadableShownMax = 20

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part, i) =>
      typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`,
    )
    .join('')

const valueAt = (given: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined,
    given,
  )

const stepOf = (issue: z.core.$ZodIssue, allowed: string, given: unknown): Recovery => {
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.join(', ')
    return {
      action: `remove ${keys}`,
      description: `There is no argument ${keys}. Allowed: ${allowed}.`,
    }
  }
  const at = pathText(issue.path)
  const missing = issue.code === 'invalid_type' && valueAt(given, issue.path) === undefined
  return missing
    ? { action: `add ${at}`, description: `${at} is required: ${issue.message}.` }
    : { action: `fix ${at || 'arguments'}`, description: `${at || 'arguments'}: ${issue.message}.` }
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
  const parsed = capability.inputs.safeParse(given ?? {})
  if (parsed.success) return { kind: 'valid', args: freezeDeep(parsed.data) }
  const allowed = Object.keys(capability.inputs.shape).join(', ') || 'none'
  return invalid(
    capability,
    parsed.error.issues.map((issue) => stepOf(issue, allowed, given)),
  )
}
