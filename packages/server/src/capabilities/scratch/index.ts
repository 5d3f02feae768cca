import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { answer, common, deleted, getting, key, listing, stored, value } from '../state-fields.ts'

/** Gone with the session, seen by nobody else: nothing outside can notice. */
const effect = 'none'

const get = defineCapability({
  ...getting,
  name: 'scratch.get',
  purpose: 'Read a value of this session.',
  when_to_use:
    'For what you noted with scratch.set. What must outlive the session is in state.get.',
  errors: [...getting.errors, 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.get(args.key)),
})

const set = defineCapability({
  ...common,
  name: 'scratch.set',
  purpose: 'Note a JSON value for the rest of this session.',
  when_to_use:
    'For intermediate results. It is deleted when the session ends; to keep it use state.set.',
  inputs: z.strictObject({ key, value }),
  outputs: stored,
  effect,
  common_patterns: [{ title: 'Note', arguments: { key: 'seen', value: ['a.txt', 'b.txt'] } }],
  errors: ['InvalidKey', 'ValueTooLarge', 'StateQuotaExceeded', 'QuotaExceeded', 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.set(args)),
})

const remove = defineCapability({
  ...common,
  name: 'scratch.delete',
  purpose: 'Delete a value of this session.',
  when_to_use: 'To make room. Everything goes with the session anyway.',
  inputs: z.strictObject({ key }),
  outputs: deleted,
  effect,
  errors: ['StateNotFound', 'InvalidKey', 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.delete(args.key)),
})

const list = defineCapability({
  ...listing,
  name: 'scratch.list',
  purpose: 'List the keys of this session.',
  when_to_use: 'To see what you noted.',
  errors: [...listing.errors, 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.list(args)),
})

export const scratchCapabilities = [get, set, remove, list]
