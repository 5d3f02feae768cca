import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'
import { answer, common, deleted, getting, key, listing, stored, value } from '../state-fields.ts'

/** Gone with the session, seen by nobody else: nothing outside can notice. */
const effect = 'none'

const get = defineCapability({
  ...getting,
  name: 'scratch.get',
  title: 'Get scratch value',
  purpose: 'Read a value of this session.',
  when_to_use: 'For a value of another session use state.get.',
  common_patterns: [{ title: 'Read what was seen already', arguments: { key: 'seen' } }],
  errors: [...getting.errors, 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.get(args.key)),
})

const set = defineCapability({
  ...common,
  name: 'scratch.set',
  title: 'Set scratch value',
  destructive: true,
  side_effects: [{ what: 'a value of this session, in place of the old one', reversible: true }],
  purpose: 'Store a JSON value until this session ends.',
  when_to_use: 'To keep it longer use state.set.',
  inputs: z.strictObject({ key, value }),
  outputs: stored,
  effect,
  common_patterns: [{ title: 'Note', arguments: { key: 'seen', value: ['a.txt', 'b.txt'] } }],
  errors: ['InvalidKey', 'ValueTooLarge', 'StateQuotaExceeded', 'QuotaExceeded', 'NoSession'],
  result_bytes_max: smallResult,
  run: (ctx, args) => answer(ctx.scratch.set(args)),
})

const remove = defineCapability({
  ...common,
  name: 'scratch.delete',
  title: 'Delete scratch value',
  destructive: true,
  side_effects: [{ what: 'a value of this session is gone', reversible: false }],
  purpose: 'Delete a value of this session.',
  when_to_use: 'All of them go with the session anyway.',
  inputs: z.strictObject({ key }),
  outputs: deleted,
  effect,
  common_patterns: [{ title: 'Forget a note', arguments: { key: 'seen' } }],
  errors: ['StateNotFound', 'InvalidKey', 'NoSession'],
  result_bytes_max: smallResult,
  run: (ctx, args) => answer(ctx.scratch.delete(args.key)),
})

const list = defineCapability({
  ...listing,
  name: 'scratch.list',
  title: 'List scratch keys',
  purpose: 'List the keys of this session.',
  when_to_use: 'For the values use scratch.get.',
  common_patterns: [{ title: 'All notes of this session', arguments: {} }],
  errors: [...listing.errors, 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.list(args)),
})

export const scratchCapabilities = [get, set, remove, list]
