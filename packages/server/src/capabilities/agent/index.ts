import { capabilityName } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'

const tier = 'autonomous'
const version = '1.0'
const effect = 'none'
const timestamp = z.string().describe('ISO 8601, UTC')

const whoami = defineCapability({
  name: 'agent.whoami',
  title: 'Who am I',
  version,
  purpose: 'Show who you are, what you are for and which folders are yours.',
  when_to_use:
    'Call it first in a task, or after a path was refused. For what you may call use agent.capabilities.',
  inputs: z.strictObject({}),
  outputs: z.object({
    name: z.string(),
    purpose: z.string(),
    status: z.string(),
    approvals: z.string().describe('pending: a held call answers at once; hold: it stays open'),
    workspace: z.string().describe('The folder that relative paths start from'),
    roots: z.array(z.object({ path: z.string(), read_only: z.boolean() })),
    session_id: z.string().nullable(),
    created_at: timestamp,
  }),
  tier,
  effect,
  common_patterns: [{ title: 'Which folders are mine?', arguments: {} }],
  errors: [],
  result_bytes_max: smallResult,
  run: (ctx) => ctx.self.whoami() as never,
})

const capabilities = defineCapability({
  name: 'agent.capabilities',
  title: 'List your capabilities',
  version,
  purpose:
    'List what you may call and which calls wait for a person; with `name`, describe one in full.',
  when_to_use: 'Useful to plan, and for examples and errors of a call.',
  inputs: z.strictObject({
    category: z.string().max(64).optional().describe('Only this group, such as filesystem'),
    name: z
      .string()
      .max(128)
      .overwrite(capabilityName)
      .optional()
      .describe('Describe this one in full'),
  }),
  outputs: z.object({
    capabilities: z.array(
      z.object({ name: z.string(), purpose: z.string(), permission_tier: z.string() }),
    ),
    total: z.int(),
    definition: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('With name: every field, examples, side effects and errors'),
  }),
  tier,
  effect,
  common_patterns: [
    { title: 'What can I do with files?', arguments: { category: 'filesystem' } },
    { title: 'Everything about one of them', arguments: { name: 'filesystem.edit' } },
  ],
  errors: [],
  run: (ctx, filter) => ctx.self.capabilities(filter) as never,
})

const session = defineCapability({
  name: 'agent.session',
  title: 'Show this session',
  version,
  purpose: 'Show the session of this call.',
  when_to_use: 'For your session id. It is null where the call belongs to no session.',
  inputs: z.strictObject({}),
  outputs: z.object({
    session: z
      .object({
        session_id: z.string(),
        agent: z.string(),
        transport: z.string(),
        client: z.object({ name: z.string(), version: z.string() }).nullable(),
        created_at: timestamp,
        ended_at: timestamp.nullable(),
        invocations: z.int(),
      })
      .nullable(),
  }),
  tier,
  effect,
  common_patterns: [{ title: 'Which session is this?', arguments: {} }],
  errors: [],
  result_bytes_max: smallResult,
  run: (ctx) => ctx.self.session() as never,
})

const policy = defineCapability({
  name: 'agent.policy',
  title: 'Show your policy',
  version,
  purpose:
    'Show which calls run at once, which wait for a person, and how much of your limits is used.',
  when_to_use: 'Useful before many calls, or after a denial or a rate limit.',
  inputs: z.strictObject({}),
  outputs: z.object({
    version: z.string(),
    autonomous: z.array(z.string()),
    approval_required: z.array(z.string()),
    limits: z.array(
      z.object({ match: z.string(), limit: z.int(), window: z.string(), used: z.int() }),
    ),
  }),
  tier,
  effect,
  common_patterns: [{ title: 'How much of my limits is used?', arguments: {} }],
  errors: [],
  run: (ctx) => ctx.self.policy() as never,
})

const briefing = defineCapability({
  name: 'agent.briefing',
  title: 'Show what changed',
  version,
  purpose: 'Show what changed since your last briefing: decisions, messages, wakes, policy.',
  when_to_use: 'Call it first when you come back or were woken. Read messages with comms.receive.',
  inputs: z.strictObject({
    since: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('ISO 8601; default: your last briefing'),
  }),
  outputs: z.object({
    since: timestamp,
    until: timestamp,
    approvals: z.object({
      decided: z.array(
        z.object({
          approval_id: z.string(),
          capability: z.string(),
          status: z.string(),
          decided_at: timestamp,
          reason: z.string().nullable(),
          execution: z.string(),
        }),
      ),
      pending: z.int(),
    }),
    messages: z.object({ waiting: z.int(), from: z.array(z.string()) }),
    wakes: z.array(
      z.object({
        wake_id: z.string(),
        reason: z.string().nullable(),
        data: z.record(z.string(), z.unknown()).nullable(),
        count: z.int().describe('How many were merged into this one'),
        woken_at: timestamp,
      }),
    ),
    policy: z.object({ version: z.string(), changed: z.boolean() }),
    shared_keys: z.array(
      z.object({
        key: z.string(),
        version: z.int(),
        updated_by: z.string(),
        updated_at: timestamp,
      }),
    ),
  }),
  tier,
  effect,
  common_patterns: [
    { title: 'What changed since my last briefing?', arguments: {} },
    { title: 'What changed since a time?', arguments: { since: '2026-05-01T10:00:00Z' } },
  ],
  errors: [],
  run: (ctx, { since }) => ctx.self.briefing(since) as never,
})

export const agentCapabilities = [whoami, capabilities, session, policy, briefing]
