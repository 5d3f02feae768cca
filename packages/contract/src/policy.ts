import { z } from 'zod'
import { PolicyTier } from './capability.ts'

export const PolicyLayer = z.enum(['system', 'organisation', 'agent'])
export type PolicyLayer = z.infer<typeof PolicyLayer>

/** Where the rule stands that decided: enough to open it in an editor. */
export const RuleRef = z.object({
  layer: PolicyLayer,
  file: z.string(),
  line: z.int(),
  match: z.string(),
})
export type RuleRef = z.infer<typeof RuleRef>

/** A capability, `group.*` or `*`. */
export const MatchPattern = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9_-]*\.(\*|[A-Za-z0-9][A-Za-z0-9_-]*))$/,
    'expected a capability, group.* or *',
  )

export const WindowText = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/, 'expected a window such as 30s, 1m, 1h or 1d')

/** A host and its port; `*.` in front stands for one name or more. An IPv6 address is in brackets. */
export const HostPattern = z
  .string()
  .max(260)
  .regex(
    /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/,
    'expected a host in small letters and a port, such as example.org:443 or *.example.org:443',
  )

export const PolicyRule = z.strictObject({
  match: MatchPattern,
  when: z.string().min(1).max(4096).optional(),
  tier: PolicyTier,
  notify: z.boolean().optional(),
  reason: z.string().max(500).optional(),
  floor: z.boolean().optional(),
  /** For `process.run` and `process.*`: what the program may reach. Without it there is no network. */
  network: z.array(HostPattern).max(50).optional(),
})
export type PolicyRule = z.infer<typeof PolicyRule>

export const PolicyLimit = z.strictObject({
  match: MatchPattern,
  limit: z.int().min(1).max(100_000),
  window: WindowText,
})
export type PolicyLimit = z.infer<typeof PolicyLimit>

export const PolicyTest = z.strictObject({
  capability: z.string(),
  agent: z.string().optional(),
  args: z.record(z.string(), z.unknown()).optional(),
  at: z.string().optional(),
  expect: PolicyTier,
})
export type PolicyTest = z.infer<typeof PolicyTest>

/** A policy file. Unknown keys are refused with "did you mean". */
export const PolicyFile = z.strictObject({
  version: z.literal(1),
  rules: z.array(PolicyRule).max(10_000).default([]),
  limits: z.array(PolicyLimit).max(1_000).default([]),
  tests: z.array(PolicyTest).max(10_000).default([]),
})
export type PolicyFile = z.infer<typeof PolicyFile>

/** One thing wrong in a policy file, at a position counted from 1. */
export const PolicyProblem = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
})
export type PolicyProblem = z.infer<typeof PolicyProblem>
