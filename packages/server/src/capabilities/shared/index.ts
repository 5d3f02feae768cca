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
import { deletingPreview, settingPreview, versionBound } from '../state-preview.ts'

const get = defineCapability({
  ...getting,
  name: 'shared.get',
  title: 'Get shared value',
  purpose: 'Read a value that all agents share, with its version.',
  when_to_use: 'shared.set needs that version.',
  common_patterns: [
    { title: 'What is the state of the build?', arguments: { key: 'build/status' } },
  ],
  run: (ctx, args) => answer(ctx.shared.get(args.key)),
})

const list = defineCapability({
  ...listing,
  name: 'shared.list',
  title: 'List shared keys',
  purpose: 'List the keys that all agents share, with versions and who changed them.',
  when_to_use: 'For the values use shared.get.',
  common_patterns: [{ title: 'Everything about builds', arguments: { prefix: 'build/' } }],
  run: (ctx, args) => answer(ctx.shared.list(args)),
})

const watch = defineCapability({
  ...common,
  name: 'shared.watch',
  title: 'Watch shared key',
  purpose: 'Wait up to a minute for a shared value to change, and read it.',
  when_to_use: 'Repeat it while `changed` is false.',
  inputs: z.strictObject({
    key,
    after_version: z
      .int()
      .min(0)
      .optional()
      .describe('The version you know (0: none); a newer one is returned at once'),
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
  result_bytes: () => 16 * 1024,
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
  title: 'Set shared value',
  purpose: 'Store a value for all agents, if its version is the one you know.',
  when_to_use:
    'Read it first with shared.get; expected_version 0 (the default) creates a key. A conflict names the current version. For values of your own use state.set.',
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
  preview: (args, { shared }) => settingPreview('shared', shared, args),
  resolve: (args, { shared }) => versionBound(shared, args.key),
  run: (ctx, args) => answer(ctx.shared.set(args)),
})

const remove = defineCapability({
  ...deleting,
  name: 'shared.delete',
  title: 'Delete shared value',
  purpose: 'Delete a shared value, if its version is the one you know.',
  when_to_use: 'For values that no agent needs any more.',
  inputs: z.strictObject({ key, expected_version: expectedVersion.min(1) }),
  notify: true,
  side_effects: [{ what: 'Other agents no longer find the value', reversible: false }],
  common_patterns: [
    {
      title: 'Delete the version that was read',
      arguments: { key: 'build/status', expected_version: 3 },
    },
  ],
  preview: (args, { shared }) => deletingPreview('shared', shared, args),
  resolve: (args, { shared }) => versionBound(shared, args.key),
  run: (ctx, args) => answer(ctx.shared.delete(args.key, args.expected_version)),
})

export const sharedCapabilities = [get, list, watch, set, remove]
