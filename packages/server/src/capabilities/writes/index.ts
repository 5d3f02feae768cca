import { BufferedWrite, WriteId, WriteStatus } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'

const version = '1.0'
const writeId = WriteId.describe('From the call that buffered it')

const own = BufferedWrite.omit({ id: true, agent: true }).extend({ write_id: z.string() })

const ownRecord = ({ id, agent: _agent, ...rest }: BufferedWrite) => ({ write_id: id, ...rest })

const list = defineCapability({
  name: 'writes.list',
  title: 'List buffered writes',
  version,
  purpose: 'List your writes to services such as mail and calendar, with their status.',
  when_to_use:
    'Shows what is about to run, what ran, and what can still be undone. For calls that wait for a person use approvals.list.',
  inputs: z.strictObject({
    status: WriteStatus.optional().describe('Only those in this state'),
    limit: z.int().min(1).max(200).default(50),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  outputs: z.object({ writes: z.array(own), total: z.int(), truncated: z.boolean() }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [{ title: 'What is about to run', arguments: { status: 'buffered' } }],
  errors: [],
  async run(ctx, args) {
    const { writes, total } = await ctx.writes.list(args)
    return {
      writes: writes.map(ownRecord),
      total,
      truncated: total > args.offset + writes.length,
    }
  },
})

const cancel = defineCapability({
  name: 'writes.cancel',
  title: 'Cancel buffered write',
  version,
  purpose: 'Cancel one of your buffered writes before it runs.',
  when_to_use: 'For one that ran use writes.rollback.',
  inputs: z.strictObject({ write_id: writeId }),
  outputs: own,
  tier: 'autonomous',
  effect: 'immediate',
  side_effects: [
    { what: 'The write does not run; make it again if it is wanted', reversible: true },
  ],
  errors: ['WriteNotFound', 'WriteNotBuffered'],
  run: async (ctx, { write_id }) => ownRecord(await ctx.writes.cancel(write_id)),
})

const rollback = defineCapability({
  name: 'writes.rollback',
  title: 'Roll back write',
  version,
  purpose: 'Undo one of your writes that ran, or refuse if it changed since.',
  when_to_use:
    "Possible until its undo_until; undo_note says what is undone. Mail that was sent can't be undone. Before it runs use writes.cancel.",
  inputs: z.strictObject({ write_id: writeId }),
  outputs: own,
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'Puts back what stood before the write', reversible: false }],
  errors: [
    'WriteNotFound',
    'NotUndoable',
    'RollbackNotFound',
    'RollbackNotReady',
    'RollbackRefused',
    'ServiceUnavailable',
  ],
  timeout_seconds: 120,
  run: async (ctx, { write_id }) => ownRecord(await ctx.writes.rollback(write_id, ctx.signal)),
})

export const writeCapabilities = [list, cancel, rollback]
