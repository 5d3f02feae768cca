import { z } from 'zod'
import { ToolPattern } from './agent.ts'
import { PolicyTier } from './capability.ts'
import { MatchPattern, PolicyLimit } from './limit.ts'

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

/** Effect of a call on files. */
export const FileEffect = z.enum(['read', 'write', 'delete'])
export type FileEffect = z.infer<typeof FileEffect>

/** Everything below a folder. */
export const FolderPattern = z
  .string()
  .max(1024)
  .regex(
    /^(?!~)\/?(?:(?!\.{1,2}\/)[^/*?[\]{}\\"'\p{C}]+\/)+\*\*$/u,
    'expected a folder and /**, such as reports/** or /srv/shared/**',
  )

/** Calls by what they do to files, and where. */
export const FileMatch = z.strictObject({
  effect: z.union([FileEffect, z.array(FileEffect).min(1).max(3)]),
  under: z.union([FolderPattern, z.array(FolderPattern).min(1).max(20)]).optional(),
})
export type FileMatch = z.infer<typeof FileMatch>

/** A host and its port; `*.` in front stands for one name or more. An IPv6 address is in brackets. */
export const HostPattern = z
  .string()
  .max(260)
  .regex(
    /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/,
    'expected a host in small letters and a port, such as example.org:443 or *.example.org:443',
  )

export const PolicyRule = z.strictObject({
  match: z.union([MatchPattern, FileMatch]),
  when: z.string().min(1).max(4096).optional(),
  tier: PolicyTier,
  notify: z.boolean().optional(),
  reason: z.string().max(500).optional(),
  floor: z.boolean().optional(),
  /** For `approval_required`: decided on each time, by the digest that was shown and a recent login. */
  critical: z.boolean().optional(),
  /** For `process.run` and `process.*`: what the program may reach. Without it there is no network. */
  network: z.array(HostPattern).max(50).optional(),
})
export type PolicyRule = z.infer<typeof PolicyRule>

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
  tools: z
    .array(ToolPattern)
    .min(1)
    .max(256)
    .optional()
    .describe(
      'The only tools of the agents that the file is for, such as email.* or github.list_*.',
    ),
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

const policyCounts = {
  rules: z
    .int()
    .nonnegative()
    .describe('Rules of the files that are valid, without those that ship.'),
  tests_passed: z.int().nonnegative().describe('Tests in these files that passed.'),
}

/** A rule that calls are decided by, with every key told. */
export const ActiveRule = z.object({
  line: z.int(),
  match: z.string(),
  when: z.string().nullable(),
  tier: PolicyTier,
  notify: z.boolean(),
  reason: z.string().nullable(),
  floor: z.boolean(),
  critical: z.boolean(),
  network: z.array(z.string()),
})
export type ActiveRule = z.infer<typeof ActiveRule>

/** The policy files as they stand on disk; with an error among the problems an older version is active. */
export const PolicyView = z.object({
  version: z.string(),
  files: z.array(
    z.object({
      layer: z.string(),
      file: z.string(),
      agent: z.string().nullable(),
      text: z.string(),
      version: z
        .string()
        .describe('Of this file: what `If-Match` takes, in quotes, where it is saved.'),
      active_rules: z
        .array(ActiveRule)
        .describe(
          'In the order in which they are asked: those of the text, or of an older one while it has an error.',
        ),
    }),
  ),
  problems: z.array(PolicyProblem),
  ...policyCounts,
})
export type PolicyView = z.infer<typeof PolicyView>

/** A policy that ships, ready to become that of the organisation or of an agent. */
export const ReadyPolicy = z.object({
  name: z.string(),
  summary: z.string().describe('What an agent may do by it.'),
  text: z.string(),
})
export type ReadyPolicy = z.infer<typeof ReadyPolicy>

export const ReadyPolicies = z.object({ policies: z.array(ReadyPolicy) })
export type ReadyPolicies = z.infer<typeof ReadyPolicies>

/** A policy file is at most 1 MiB of text. */
const policyText = z.string().max(1_048_576)

export const SavePolicy = z.strictObject({ text: policyText })
export type SavePolicy = z.infer<typeof SavePolicy>

export const SavedPolicy = z.object({
  version: z.string(),
  file_version: z.string().describe('Of the saved file. Its `ETag`.'),
  problems: z.array(PolicyProblem),
  previous: z
    .string()
    .nullable()
    .describe(
      'File with the replaced text, below the folder of the policies; null if there is none.',
    ),
})
export type SavedPolicy = z.infer<typeof SavedPolicy>

/** With `agent` the text is checked as the file of that agent, otherwise as the organisation's. */
export const ValidatePolicy = z.strictObject({
  text: policyText,
  file: z.string().min(1).max(4096).optional(),
  agent: z.string().min(1).max(63).optional(),
})
export type ValidatePolicy = z.infer<typeof ValidatePolicy>

export const PolicyVerdict = z.object({
  valid: z.boolean(),
  problems: z.array(PolicyProblem),
  ...policyCounts,
})
export type PolicyVerdict = z.infer<typeof PolicyVerdict>

/** Decision on a call that is not made. `at` is a time, now by default. */
export const TryPolicy = z.strictObject({
  agent: z.string().min(1).max(63),
  capability: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.unknown()).default({}),
  at: z.string().max(64).optional(),
})
export type TryPolicy = z.infer<typeof TryPolicy>

export const PolicyTrial = z.object({
  decision: z.object({
    kind: z.enum(['allow', 'ask', 'deny']),
    rule: RuleRef.nullable(),
    reason: z.string().nullable(),
    notify: z.boolean(),
    /** Present where each call is decided on by itself, whatever was remembered. */
    critical: z.literal(true).optional(),
    /** Hosts that a program started by the call may reach. */
    network: z.array(z.string()).optional(),
  }),
  steps: z.array(z.object({ rule: RuleRef, outcome: z.string(), detail: z.string().optional() })),
})
export type PolicyTrial = z.infer<typeof PolicyTrial>

/** A text in the place of the policy of `agent`, or of the organisation's; nothing of it is saved. */
export const PolicyDraft = z.strictObject({
  text: policyText,
  agent: z.string().min(1).max(63).optional(),
})
export type PolicyDraft = z.infer<typeof PolicyDraft>

/** Calls that nobody makes: each of the agents, each of the capabilities. */
export const SimulatePolicy = z.strictObject({
  agents: z
    .array(z.string().min(1).max(63))
    .min(1)
    .max(1000)
    .optional()
    .describe('Names of agents; all that are not revoked, unless given.'),
  capabilities: z
    .array(MatchPattern)
    .min(1)
    .max(500)
    .optional()
    .describe('Capabilities, group.* or *; all, unless given.'),
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Of each call. Without them the tier is that of a listing, and there is no decision.',
    ),
  at: z.string().max(64).optional().describe('Time of the calls, ISO 8601; now, unless given.'),
  draft: PolicyDraft.optional(),
  trace: z.boolean().default(false).describe('Tell each rule that was looked at.'),
})
export type SimulatePolicy = z.infer<typeof SimulatePolicy>

export const SimulatedCall = z.object({
  agent: z.string(),
  capability: z.string(),
  tier: PolicyTier,
  active_tier: PolicyTier.nullable().describe('By the active policy; null without a draft.'),
  barred: z
    .enum(['tool_set', 'paused', 'revoked'])
    .nullable()
    .describe('Why the call is refused whatever policy says.'),
  arguments_fit: z.boolean().describe('Whether the capability takes such arguments.'),
  decision: PolicyTrial.shape.decision.nullable(),
  steps: PolicyTrial.shape.steps.optional(),
})
export type SimulatedCall = z.infer<typeof SimulatedCall>

export const PolicySimulation = z.object({
  version: z.string().describe('Of the policy that decided: the active one, or the draft.'),
  problems: z.array(PolicyProblem).describe('Warnings about the draft.'),
  results: z.array(SimulatedCall),
})
export type PolicySimulation = z.infer<typeof PolicySimulation>

export const ReplayPolicy = z.strictObject({
  draft: PolicyDraft,
  days: z.int().min(1).max(90).default(7).describe('Calls of this many days, up to now.'),
})
export type ReplayPolicy = z.infer<typeof ReplayPolicy>

const replayCounts = {
  calls: z.int().describe('Calls that policy was asked about.'),
  changed: z.int().describe('Those that the draft decides otherwise than the active policy.'),
  cannot_say: z
    .int()
    .describe('Those that hang on arguments which the log holds only in part or as a hash.'),
}

export const ReplayedAgent = z.object({
  agent: z.string(),
  ...replayCounts,
  changes: z.array(
    z.object({
      capability: z.string(),
      from: PolicyTier.describe('By the active policy.'),
      to: PolicyTier.describe('By the draft.'),
      rule: RuleRef.nullable().describe('Of the draft, on the newest of these calls.'),
      calls: z.int(),
      examples: z.array(z.string()).describe('Entries of the audit log, the newest first.'),
    }),
  ),
})
export type ReplayedAgent = z.infer<typeof ReplayedAgent>

/** A line of a replay: how far it is, and at the end its result. */
export const PolicyReplayLine = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    done: z.int().describe('Entries of the log that were read.'),
    total: z.int(),
  }),
  z.object({
    kind: z.literal('result'),
    since: z.string(),
    until: z.string(),
    ...replayCounts,
    agents: z.array(ReplayedAgent),
  }),
])
export type PolicyReplayLine = z.infer<typeof PolicyReplayLine>
