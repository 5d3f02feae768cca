import { ApprovalStatus, CapabilityResult, GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { PreviewContext } from '../../ports/capability.ts'
import { defineCapability } from '../define.ts'
import { callText, jsonText, previewOrNote, textPreview } from '../text-preview.ts'

const approval_id = z.string().max(64).describe('From the pending answer: appr-…')
const version = '1.0'

/** Null where there is no such request; the call itself says so. */
const statusOf = async (
  approvals: PreviewContext['approvals'],
  id: string,
): Promise<ApprovalStatus | null> => {
  try {
    return (await approvals.find(id)).status
  } catch (error) {
    if (error instanceof GatehouseError && error.type === 'ApprovalNotFound') return null
    throw error
  }
}
const tier = 'autonomous'
const outputs = z.object({
  approval_id: z.string(),
  status: ApprovalStatus,
  arguments: z.record(z.string(), z.unknown()).optional().describe('As you sent them'),
  effective_arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('With the defaults filled in: what runs'),
  result: CapabilityResult.optional().describe('The real result, once there is one'),
  edited: z
    .object({ arguments: z.record(z.string(), z.unknown()), note: z.string() })
    .optional()
    .describe('Set where a person changed the arguments: what was run in place of yours'),
})

const get = defineCapability({
  name: 'approvals.get',
  title: 'Get approval',
  version,
  purpose: 'Show the status of one of your approvals, and its result once there is one.',
  when_to_use: 'Does not wait; to wait for the decision use approvals.wait.',
  inputs: z.strictObject({ approval_id }),
  outputs,
  tier,
  effect: 'none',
  common_patterns: [
    {
      title: 'Has it been decided?',
      arguments: { approval_id: 'appr-06d9k2m8q4vx7c1n5t3bzaehfw' },
    },
  ],
  errors: ['ApprovalNotFound'],
  run: (ctx, args) => ctx.approvals.get(args.approval_id),
})

const wait = defineCapability({
  name: 'approvals.wait',
  title: 'Wait for approval',
  version,
  purpose: 'Wait up to a minute for a decision, then return the result of the call.',
  when_to_use:
    'Call it after a pending_approval answer, and again while it is pending. Work on something else meanwhile.',
  inputs: z.strictObject({
    approval_id,
    timeout_seconds: z.number().min(0).max(60).default(30).describe('How long to wait at most'),
  }),
  outputs,
  tier,
  effect: 'none',
  waits: true,
  result_bytes: () => 16 * 1024,
  timeout_seconds: 90,
  common_patterns: [
    {
      title: 'Wait a minute',
      arguments: { approval_id: 'appr-06d9k2m8q4vx7c1n5t3bzaehfw', timeout_seconds: 60 },
    },
  ],
  errors: ['ApprovalNotFound'],
  run: (ctx, args) => ctx.approvals.wait(args.approval_id, args.timeout_seconds * 1000, ctx.signal),
})

const list = defineCapability({
  name: 'approvals.list',
  title: 'List your approvals',
  version,
  purpose: 'List your approvals, newest first.',
  when_to_use: 'Shows what still waits, and what was decided while you were away.',
  inputs: z.strictObject({
    status: ApprovalStatus.optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  outputs: z.object({
    approvals: z.array(
      z.object({
        approval_id: z.string(),
        capability: z.string(),
        status: ApprovalStatus,
        requested_at: z.string(),
        expires_at: z.string(),
        decision_reason: z.string().nullable(),
        execution: z.string(),
      }),
    ),
    total: z.int(),
    truncated: z.boolean(),
  }),
  tier,
  effect: 'none',
  common_patterns: [
    { title: 'List pending requests', arguments: { status: 'pending' } },
    { title: 'List rejected requests', arguments: { status: 'rejected', limit: 10 } },
  ],
  errors: [],
  run: (ctx, args) => ctx.approvals.list(args.status, args.limit) as never,
})

const cancel = defineCapability({
  name: 'approvals.cancel',
  title: 'Cancel approval request',
  version,
  purpose: 'Withdraw one of your pending requests.',
  when_to_use: 'For calls that are no longer needed. Nobody has to decide them then.',
  inputs: z.strictObject({ approval_id }),
  outputs,
  tier,
  effect: 'immediate',
  side_effects: [{ what: 'the request leaves the queue', reversible: true }],
  undo: () => 'The agent makes the call again, and a person is asked again.',
  common_patterns: [
    { title: 'No longer needed', arguments: { approval_id: 'appr-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['ApprovalNotFound', 'ApprovalNotPending'],
  resolve: async ({ approval_id: id }, { approvals }) => ({
    status: await statusOf(approvals, id),
  }),
  preview: ({ approval_id: id }, { approvals }) =>
    previewOrNote(`Withdraw the request ${id}.`, async () => {
      const { capability, arguments: args, status, requested_at } = await approvals.find(id)
      return textPreview(
        `Withdraw the request ${id}, so that nobody can approve it.`,
        `The request asks for ${callText(capability, args)}, since ${requested_at}.`,
        status !== 'pending' && `It is ${status}, so nothing is left to withdraw.`,
        jsonText(args),
      )
    }),
  async run(ctx, { approval_id: id }) {
    const { capability, arguments: args } = await ctx.approvals.find(id)
    ctx.note({ object: callText(capability, args) })
    return ctx.approvals.cancel(id)
  },
})

export const approvalCapabilities = [get, wait, list, cancel]
