import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  answer,
  cursor,
  deleted,
  found,
  key,
  keys,
  limit,
  prefix,
  stored,
  value,
} from '../state-fields.ts'

const version = '1.0'
const tier = 'autonomous'
/** Gone with the session, seen by nobody else: nothing outside can notice. */
const effect = 'none'

const get = defineCapability({
  name: 'scratch.get',
  version,
  purpose: 'Read a value of this session.',
  when_to_use:
    'For what you noted with scratch.set. What must outlive the session is in state.get.',
  inputs: z.strictObject({ key }),
  outputs: found,
  tier,
  effect,
  errors: ['StateNotFound', 'InvalidKey', 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.get(args.key)),
})

const set = defineCapability({
  name: 'scratch.set',
  version,
  purpose: 'Note a JSON value for the rest of this session.',
  when_to_use:
    'For intermediate results. It is deleted when the session ends; to keep it use state.set.',
  inputs: z.strictObject({ key, value }),
  outputs: stored,
  tier,
  effect,
  common_patterns: [{ title: 'Note', arguments: { key: 'seen', value: ['a.txt', 'b.txt'] } }],
  errors: ['InvalidKey', 'ValueTooLarge', 'StateQuotaExceeded', 'QuotaExceeded', 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.set(args)),
})

const remove = defineCapability({
  name: 'scratch.delete',
  version,
  purpose: 'Delete a value of this session.',
  when_to_use: 'To make room. Everything goes with the session anyway.',
  inputs: z.strictObject({ key }),
  outputs: deleted,
  tier,
  effect,
  errors: ['StateNotFound', 'InvalidKey', 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.delete(args.key)),
})

const list = defineCapability({
  name: 'scratch.list',
  version,
  purpose: 'List the keys of this session.',
  when_to_use: 'To see what you noted.',
  inputs: z.strictObject({ prefix, limit: limit(1000, 100), cursor }),
  outputs: keys,
  tier,
  effect,
  errors: ['InvalidKey', 'NoSession'],
  run: (ctx, args) => answer(ctx.scratch.list(args)),
})

export const scratchCapabilities = [get, set, remove, list]
