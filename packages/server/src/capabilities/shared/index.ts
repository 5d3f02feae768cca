import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  answer,
  common,
  deleting,
  expectedVersion,
  getting,
  key,
  listing,
  setting,
  ttlSeconds,
  value,
} from '../state-fields.ts'

const get = defineCapability({
  ...getting,
  name: 'shared.get',
  purpose: 'Read a value that all agents share, with its version.',
  when_to_use: 'To see what other agents left, and before shared.set. For your own use state.get.',
  run: (ctx, args) => answer(ctx.shared.get(args.key)),
})

const list = defineCapability({
  ...listing,
  name: 'shared.list',
  purpose: 'List the keys that all agents share, with versions and who changed them.',
  when_to_use: 'To see what is there. For the values use shared.get.',
  run: (ctx, args) => answer(ctx.shared.list(args)),
})

const watch = defineCapability({
  ...common,
  name: 'shared.watch',
  purpose: 'Wait up to a minute until a shared value changes, and read it.',
  when_to_use: 'To wait for another agent. Call it again while `changed` is false.',
  inputs: z.strictObject({
    key,
    after_version: z
      .int()
      .min(0)
      .optional()
      .describe('The version you know, 0 for none: a later one is answered at once'),
    timeout_seconds: z.number().min(0).max(60).default(30),
  }),
  outputs: z.object({
    changed: z.boolean(),
    deleted: z.boolean(),
    key: z.string(),
    value: z.unknown(),
    version: z.int(),
    updated_at: z.string().nullable(),
    updated_by: z.string().nullable(),
    expires_at: z.string().nullable(),
  }),
  effect: 'none',
  waits: true,
  timeout_seconds: 90,
  common_patterns: [
    { title: 'Wait for a change', arguments: { key: 'build/status', after_version: 7 } },
  ],
  errors: ['InvalidKey'],
  run: (ctx, { key: watched, after_version = null, timeout_seconds }) =>
    answer(ctx.shared.watch(watched, after_version, timeout_seconds * 1000, ctx.signal)),
})

const set = defineCapability({
  ...setting,
  name: 'shared.set',
  purpose: 'Store a value that all agents share, if it is still at the version that you know.',
  when_to_use:
    'After shared.get, with its version; with 0 (the default) to make a new key. A conflict names the version that stands.',
  inputs: z.strictObject({
    key,
    value,
    expected_version: expectedVersion.default(0),
    ttl_seconds: ttlSeconds,
  }),
  notify: true,
  side_effects: [{ what: 'Other agents read the new value', reversible: false }],
  common_patterns: [
    { title: 'A new key', arguments: { key: 'build/status', value: 'green' } },
    {
      title: 'Change it',
      arguments: { key: 'build/status', value: 'red', expected_version: 1 },
    },
  ],
  run: (ctx, args) => answer(ctx.shared.set(args)),
})

const remove = defineCapability({
  ...deleting,
  name: 'shared.delete',
  purpose: 'Delete a value that all agents share, if it is still at the version that you know.',
  when_to_use: 'When no agent needs it any more.',
  inputs: z.strictObject({ key, expected_version: expectedVersion.min(1) }),
  notify: true,
  side_effects: [{ what: 'Other agents no longer find the value', reversible: false }],
  run: (ctx, args) => answer(ctx.shared.delete(args.key, args.expected_version)),
})

export const sharedCapabilities = [get, list, watch, set, remove]
