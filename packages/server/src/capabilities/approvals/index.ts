import { ApprovalStatus, CapabilityResult } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'

const approval_id = z.string().max(64).describe('The id from the pending answer: appr-…')
const version = '1.0'
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
  version,
  purpose: 'Show where one of your approvals stands, with the real result once there is one.',
  when_to_use: 'To look without waiting. To wait for the decision use approvals.wait.',
  inputs: z.strictObject({ approval_id }),
  outputs,
  tier,
  effect: 'none',
  errors: ['ApprovalNotFound'],
  run: (ctx, args) => ctx.approvals.get(args.approval_id),
})

const wait = defineCapability({
  name: 'approvals.wait',
  version,
  purpose: 'Wait up to a minute until a person has decided and the call has run.',
  when_to_use:
    'After a call answered pending_approval. Call it again while the status is pending; do other work between.',
  inputs: z.strictObject({
    approval_id,
    timeout_seconds: z.number().min(0).max(60).default(30).describe('How long to wait at most'),
  }),
  outputs,
  tier,
  effect: 'none',
  waits: true,
  timeout_seconds: 90,
  common_patterns: [
    { title: 'Wait a minute', arguments: { approval_id: 'appr-…', timeout_seconds: 60 } },
  ],
  errors: ['ApprovalNotFound'],
  run: (ctx, args) => ctx.approvals.wait(args.approval_id, args.timeout_seconds * 1000, ctx.signal),
})

const list = defineCapability({
  name: 'approvals.list',
  version,
  purpose: 'List your approvals.',
  when_to_use: 'To see what still waits for a person, or what was decided while you were away.',
  inputs: z.strictObject({
    status: ApprovalStatus.optional().describe('Only those in this state'),
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
  errors: [],
  run: (ctx, args) => ctx.approvals.list(args.status, args.limit) as never,
})

const cancel = defineCapability({
  name: 'approvals.cancel',
  version,
  purpose: 'Withdraw one of your requests that is still pending.',
  when_to_use: 'When the call is no longer needed, so that nobody spends time on it.',
  inputs: z.strictObject({ approval_id }),
  outputs,
  tier,
  effect: 'immediate',
  side_effects: [{ what: 'the request leaves the queue', reversible: true }],
  errors: ['ApprovalNotFound', 'ApprovalNotPending'],
  run: (ctx, args) => ctx.approvals.cancel(args.approval_id),
})

export const approvalCapabilities = [get, wait, list, cancel]
