import { z } from 'zod'
import { CapabilityName } from './ids.ts'

/** The tier that policy gives one agent for one capability. A blocked one is in no listing. */
export const PermissionTier = z.enum(['autonomous', 'approval_required'])
export type PermissionTier = z.infer<typeof PermissionTier>

/** Decision of policy: a tier, or `blocked`. */
export const PolicyTier = z.enum(['autonomous', 'approval_required', 'blocked'])
export type PolicyTier = z.infer<typeof PolicyTier>

/** The tier that policy applied; `none` where no policy was asked: acts, unknown names, arguments that do not fit. */
export const PolicyDecision = z.enum([...PolicyTier.options, 'none'])
export type PolicyDecision = z.infer<typeof PolicyDecision>

/** `none`: nothing outside can notice. `immediate`: happens during the call. `buffered`: by the service proxy. */
export const Effect = z.enum(['none', 'immediate', 'buffered'])
export type Effect = z.infer<typeof Effect>

export const FieldEntry = z.object({
  name: z.string(),
  type: z.string(),
  required: z.boolean(),
  default: z.unknown().optional(),
  description: z.string().optional(),
})
export type FieldEntry = z.infer<typeof FieldEntry>

export const RecoveryStep = z.object({ action: z.string(), description: z.string() })

/** An entry of `capabilities.list`. */
export const CapabilityListing = z.object({
  name: CapabilityName,
  version: z.string(),
  purpose: z.string(),
  permission_tier: PermissionTier,
  inputs: z.array(FieldEntry),
  outputs: z.array(FieldEntry),
})
export type CapabilityListing = z.infer<typeof CapabilityListing>

export const SideEffect = z.object({ what: z.string(), reversible: z.boolean() })

/** The answer of `capabilities.describe`. */
export const CapabilityDescription = CapabilityListing.extend({
  /** A verb with its noun, unlike any other. */
  title: z.string(),
  when_to_use: z.string(),
  common_patterns: z.array(
    z.object({ title: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  ),
  errors: z.array(
    z.object({ type: z.string(), message: z.string(), recovery: z.array(RecoveryStep) }),
  ),
  side_effects: z.array(SideEffect),
  effect: Effect,
  critical: z.boolean(),
})
export type CapabilityDescription = z.infer<typeof CapabilityDescription>

/** A failure that a model can act on. Over JSON-RPC `type`, over MCP the same name as `error`. */
export const CapabilityError = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(RecoveryStep),
})
export type CapabilityError = z.infer<typeof CapabilityError>

/** The result of `capabilities.invoke`. */
export const CapabilityResult = z.union([
  z.object({
    success: z.literal(true),
    data: z.record(z.string(), z.unknown()),
    /** Note to the agent beside the data: that a person changed its call. */
    note: z.string().optional(),
  }),
  z.object({ success: z.literal(false), error: CapabilityError }),
])
export type CapabilityResult = z.infer<typeof CapabilityResult>

/** Preview for an approver: everything that will happen. */
export const Preview = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), text: z.string() }),
  z.object({ kind: z.literal('diff'), text: z.string(), path: z.string().optional() }),
  z.object({
    kind: z.literal('url'),
    method: z.string(),
    url: z.string(),
    text: z.string().optional(),
  }),
  z.object({
    kind: z.literal('mail'),
    headers: z.record(z.string(), z.string()),
    text: z.string(),
  }),
])
export type Preview = z.infer<typeof Preview>
