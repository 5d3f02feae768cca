import { z } from 'zod'
import {
  Approval,
  ApprovalList,
  ApprovalStatus,
  ApproveBody,
  DecideBody,
  DecideOutcomes,
  RejectBody,
} from '../approval.ts'
import { defineRoutes } from './define-routes.ts'
import { page, period, queryText } from './fields.ts'

export const approvalRoutes = defineRoutes({
  listApprovals: {
    method: 'GET',
    path: '/api/approvals',
    summary: 'Pending requests; with `status` also those that were decided',
    permission: 'read',
    query: z.strictObject({
      status: z
        .enum([...ApprovalStatus.options, 'decided', 'all'])
        .default('pending')
        .describe('`decided` is every status but `pending`.'),
      agent: queryText().optional(),
      capability: queryText().optional(),
      ...period,
      ...page({ max: 1000, default: undefined }),
    }),
    answer: ApprovalList,
  },
  streamApprovals: {
    method: 'GET',
    path: '/api/approvals/stream',
    summary: 'Approvals as they are asked for and decided, as server-sent events',
    permission: 'read',
    answer: 'events',
  },
  showApproval: {
    method: 'GET',
    path: '/api/approvals/:id',
    summary: 'One request in full: the call that would run and the rule that asks',
    permission: 'read',
    answer: Approval,
    errors: ['ApprovalNotFound'],
  },
  decideApprovals: {
    method: 'POST',
    path: '/api/approvals/decide',
    summary: 'One decision on up to 100 requests, each recorded by itself',
    permission: 'approvals.decide',
    body: DecideBody,
    answer: DecideOutcomes,
  },
  approveApproval: {
    method: 'POST',
    path: '/api/approvals/:id/approve',
    summary: 'Let it run, exactly as it was shown',
    permission: 'approvals.decide',
    body: ApproveBody,
    answer: Approval,
    errors: [
      'ApprovalNotFound',
      'ApprovalNotPending',
      'ApprovalDigestMismatch',
      'ApprovalStale',
      'RememberRefused',
      'EditRefused',
      'InvalidArguments',
    ],
  },
  rejectApproval: {
    method: 'POST',
    path: '/api/approvals/:id/reject',
    summary: 'Refuse it; the agent reads the reason',
    permission: 'approvals.decide',
    body: RejectBody,
    answer: Approval,
    errors: ['ApprovalNotFound', 'ApprovalNotPending'],
  },
})
