import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  answer,
  common,
  cursor,
  deleting,
  expectedVersion,
  found,
  getting,
  key,
  limit,
  listing,
  prefix,
  setting,
  ttlSeconds,
  value,
} from '../state-fields.ts'
import { deletingPreview, settingPreview, versionBound, versionMeant } from '../state-preview.ts'

const get = defineCapability({
  ...getting,
  name: 'state.get',
  title: 'Get state value',
  purpose: 'Read one of your stored values.',
  when_to_use: 'For several at once use state.query.',
  common_patterns: [{ title: 'Where did I stop?', arguments: { key: 'progress' } }],
  run: (ctx, args) => answer(ctx.state.get(args.key)),
})

const list = defineCapability({
  ...listing,
  name: 'state.list',
  title: 'List state keys',
  purpose: 'List your stored keys with sizes and versions, without values.',
  when_to_use: 'For the values use state.get or state.query.',
  common_patterns: [{ title: 'All my notes', arguments: { prefix: 'notes/' } }],
  run: (ctx, args) => answer(ctx.state.list(args)),
})

const query = defineCapability({
  ...common,
  name: 'state.query',
  title: 'Query state values',
  purpose: 'Read many of your stored values, by prefix and by their fields.',
  when_to_use: 'For one key use state.get.',
  inputs: z.strictObject({
    prefix,
    where: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .default({})
      .describe('Only objects with these field values'),
    limit: limit(200, 50),
    cursor,
  }),
  outputs: z.object({
    entries: z.array(found),
    truncated: z.boolean(),
    next_cursor: z.string().nullable(),
  }),
  effect: 'none',
  common_patterns: [
    { title: 'Open tasks', arguments: { prefix: 'task/', where: { status: 'open' } } },
  ],
  errors: ['InvalidKey'],
  run: (ctx, args) => answer(ctx.state.query(args)),
})

const history = defineCapability({
  ...common,
  name: 'state.history',
  title: 'Show state history',
  purpose: 'Show the last 20 versions of one of your values, newest first.',
  when_to_use: 'Shows what a key held before. Values above 64 KiB are not kept in it.',
  inputs: z.strictObject({ key, limit: limit(20, 20) }),
  outputs: z.object({
    key: z.string(),
    versions: z.array(
      z.object({
        version: z.int(),
        deleted: z.boolean(),
        kept: z.boolean(),
        value: z.unknown(),
        updated_at: z.string(),
        updated_by: z.string(),
      }),
    ),
  }),
  effect: 'none',
  common_patterns: [
    { title: 'What did it hold before?', arguments: { key: 'progress', limit: 5 } },
  ],
  errors: ['StateNotFound', 'InvalidKey'],
  run: (ctx, args) => answer(ctx.state.history(args.key, args.limit)),
})

const set = defineCapability({
  ...setting,
  name: 'state.set',
  title: 'Set state value',
  destructive: true,
  purpose: 'Store a JSON value of your own; it stays across sessions.',
  when_to_use: 'For this session alone use scratch.set, for other agents shared.set.',
  inputs: z.strictObject({
    key,
    value,
    expected_version: expectedVersion.optional(),
    ttl_seconds: ttlSeconds,
  }),
  side_effects: [
    { what: 'Replaces the value; the last 20 are in state.history', reversible: true },
  ],
  undo: () => 'Set the value before again: state.history keeps the last 20 up to 64 KiB.',
  common_patterns: [
    { title: 'Remember', arguments: { key: 'progress', value: { done: 12, next: 'b.txt' } } },
    { title: 'Only if new', arguments: { key: 'lock', value: 'me', expected_version: 0 } },
  ],
  preview: (args, { state }) => settingPreview('own', state, args),
  resolve: (args, { state }) => versionBound(state, args.key),
  run: (ctx, args) => answer(ctx.state.set({ ...args, expected_version: versionMeant(ctx, args) })),
})

const remove = defineCapability({
  ...deleting,
  name: 'state.delete',
  title: 'Delete state value',
  destructive: true,
  purpose: 'Delete one of your stored values.',
  when_to_use: 'state.history keeps its versions for a week.',
  inputs: z.strictObject({ key, expected_version: expectedVersion.min(1).optional() }),
  side_effects: [{ what: 'Deletes the value; state.history keeps it', reversible: true }],
  undo: () => 'Set the value again: state.history keeps it for a week, up to 64 KiB.',
  common_patterns: [
    { title: 'Forget a value', arguments: { key: 'progress' } },
    { title: 'Only if nobody changed it', arguments: { key: 'progress', expected_version: 3 } },
  ],
  preview: (args, { state }) => deletingPreview('own', state, args),
  resolve: (args, { state }) => versionBound(state, args.key),
  run: (ctx, args) => answer(ctx.state.delete(args.key, versionMeant(ctx, args))),
})

export const stateCapabilities = [get, list, query, history, set, remove]
