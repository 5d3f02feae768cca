import { BufferedWrite, WriteId, WriteStatus } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { z } from 'zod'
import type { CapabilityContext, PreviewContext } from '../../ports/capability.ts'
import { defineCapability } from '../define.ts'
import { jsonText, previewOrNote, textPreview } from '../text-preview.ts'

const version = '1.0'
const writeId = WriteId.describe('From the call that buffered it')

const own = BufferedWrite.omit({ id: true, agent: true }).extend({ write_id: z.string() })

const ownRecord = ({ id, agent: _agent, ...rest }: BufferedWrite) => ({ write_id: id, ...rest })

const writeText = ({ id, operation, service }: BufferedWrite): string =>
  `the write ${id}, ${operation} at ${service}`

const noteWrite = (
  ctx: CapabilityContext,
  { operation, service, arguments: sent }: BufferedWrite,
) => ctx.note({ object: describeCall('write', { ...sent, operation, service }) })

const statusBound = async (writes: PreviewContext['writes'], write_id: string) => ({
  status: (await writes.find(write_id)).status,
})

const contentLines = (write: BufferedWrite): readonly string[] => [
  'Its arguments:',
  jsonText(write.arguments),
  ...write.files.map(({ name, size_bytes }) => `with the file ${name}, ${size_bytes} bytes`),
]

const list = defineCapability({
  name: 'writes.list',
  title: 'List buffered writes',
  version,
  purpose: 'List your writes to services such as mail and calendar, with their status.',
  when_to_use:
    'Shows what can still be cancelled or undone. For calls that wait for a person use approvals.list.',
  inputs: z.strictObject({
    status: WriteStatus.optional(),
    limit: z.int().min(1).max(200).default(50),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  outputs: z.object({ writes: z.array(own), total: z.int(), truncated: z.boolean() }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [{ title: 'List buffered writes', arguments: { status: 'buffered' } }],
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
  undo: () => 'The agent makes the write again.',
  common_patterns: [
    { title: 'Stop it before it runs', arguments: { write_id: 'wr-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['WriteNotFound', 'WriteNotBuffered'],
  preview: ({ write_id }, { writes }) =>
    previewOrNote(`Cancel the write ${write_id}.`, async () => {
      const write = await writes.find(write_id)
      return textPreview(
        `Cancel ${writeText(write)}.`,
        write.status === 'buffered'
          ? `It would run at ${write.execute_at}, and does not.`
          : `The write is ${write.status}, so the call is refused.`,
        ...contentLines(write),
      )
    }),
  resolve: ({ write_id }, { writes }) => statusBound(writes, write_id),
  async run(ctx, { write_id }) {
    noteWrite(ctx, await ctx.writes.find(write_id))
    return ownRecord(await ctx.writes.cancel(write_id))
  },
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
  common_patterns: [{ title: 'Undo it', arguments: { write_id: 'wr-06d9k2m8q4vx7c1n5t3bzaehfw' } }],
  errors: [
    'WriteNotFound',
    'NotUndoable',
    'RollbackNotFound',
    'RollbackNotReady',
    'RollbackRefused',
    'ServiceUnavailable',
  ],
  timeout_seconds: 120,
  preview: ({ write_id }, { writes, signal }) =>
    previewOrNote(`Undo the write ${write_id}.`, async () => {
      const write = await writes.find(write_id)
      const about = [`Undo ${writeText(write)}.`, write.undo_note]
      return previewOrNote([...about, ...contentLines(write)].join('\n'), async () => {
        const plan = await writes.planRollback(write_id, signal)
        return textPreview(
          ...about,
          ...(plan.possible
            ? ['Steps:', ...plan.steps.map((step) => `  ${step}`)]
            : [`The write cannot be undone now: ${plan.reason}`]),
          ...plan.differences.map((difference) => `  changed since: ${difference}`),
          ...contentLines(write),
        )
      })
    }),
  resolve: async ({ write_id }, { writes }) => {
    const { rollback_status } = await writes.find(write_id)
    return { ...(await statusBound(writes, write_id)), rollback_status }
  },
  async run(ctx, { write_id }) {
    noteWrite(ctx, await ctx.writes.find(write_id))
    return ownRecord(await ctx.writes.rollback(write_id, ctx.signal))
  },
})

export const writeCapabilities = [list, cancel, rollback]
