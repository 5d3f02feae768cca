import {
  Approval,
  ApprovalList,
  ApprovalStatus,
  ApproveBody,
  DecideBody,
  DecideOutcomes,
  GatehouseError,
  RejectBody,
} from '@gatehouse/contract'
import { z } from 'zod'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/op.ts'
import { type Answer, conflict, defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText } from '../fields.ts'

const params = z.object({ id: pathName })
/** Without a limit, all that are pending come, and so many of the others. */
const decidedMax = 100

const list = defineRoute({
  method: 'GET',
  path: '/api/approvals',
  operationId: 'listApprovals',
  summary: 'What waits for a decision; with `status` also what was decided',
  permission: 'read',
  query: z.strictObject({
    status: z.enum([...ApprovalStatus.options, 'all']).default('pending'),
    agent: queryText().optional(),
    limit: queryInteger({ min: 1, max: 1000, default: undefined }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: ApprovalList,
  errors: [],
  async handle(op, app, { query: { status, agent, limit, offset } }) {
    const filter = {
      ...(status === 'all' ? {} : { status }),
      ...(agent === undefined ? {} : { agent }),
      limit: limit ?? (status === 'pending' ? Number.MAX_SAFE_INTEGER : decidedMax),
      offset,
    }
    return ok(await app.listApprovals(op, filter))
  },
})

const stream = defineRoute({
  method: 'GET',
  path: '/api/approvals/stream',
  operationId: 'streamApprovals',
  summary: 'Approvals as they are asked for and decided, as server-sent events',
  permission: 'read',
  response: 'events',
  errors: [],
  handle: (op, app) =>
    Promise.resolve({
      kind: 'events',
      async source(emit) {
        const tell = (approval: Approval) =>
          emit({ name: 'approval', key: approval.id, data: approval })
        // Listening begins before the list is read, so that nothing falls between the two.
        const subscription = app.subscribeApprovals(tell)
        const limit = Number.MAX_SAFE_INTEGER
        const pending = { status: 'pending', limit, offset: 0 } as const
        try {
          const snapshot = await app.listApprovals(op, pending)
          emit({ name: 'snapshot', key: 'snapshot', data: snapshot })
        } catch (error) {
          subscription[Symbol.dispose]()
          throw error
        }
        return subscription
      },
    }),
})

const show = defineRoute({
  method: 'GET',
  path: '/api/approvals/:id',
  operationId: 'showApproval',
  summary: 'One request, whole: what would run and which rule asks',
  permission: 'read',
  params,
  response: Approval,
  errors: ['ApprovalNotFound'],
  handle: async (op, app, { params: { id } }) =>
    ok(await app.showApproval(op, { approval_id: id })),
})

type Decision = Parameters<App['decideApproval']>[1]

const shownConflicts: ReadonlySet<string> = new Set(['ApprovalDigestMismatch', 'ApprovalStale'])

/** Whoever decides too late, or on something else than was shown, gets the record as it stands. */
async function decide(op: Op, app: App, decision: Decision): Promise<Answer<Approval>> {
  const { approval_id } = decision
  try {
    const { kind, approval } = await app.decideApproval(op, decision)
    if (kind === 'decided') return ok(approval)
    return conflict('ApprovalNotPending', { approval_id, status: approval.status }, approval)
  } catch (error) {
    if (!(error instanceof GatehouseError) || !shownConflicts.has(error.type)) throw error
    return conflict(error.type, error.facts, await app.showApproval(op, { approval_id }))
  }
}

const approve = defineRoute({
  method: 'POST',
  path: '/api/approvals/:id/approve',
  operationId: 'approveApproval',
  summary: 'Let it run, exactly as it was shown',
  permission: 'approvals.decide',
  params,
  body: ApproveBody,
  response: Approval,
  errors: [
    'ApprovalNotFound',
    'ApprovalNotPending',
    'ApprovalDigestMismatch',
    'ApprovalStale',
    'RememberRefused',
    'EditRefused',
    'InvalidArguments',
  ],
  handle: (op, app, { params: { id }, body: { digest, reason, remember, arguments: changed } }) =>
    decide(op, app, {
      approval_id: id,
      decision: 'approve',
      ...(digest === undefined ? {} : { digest }),
      ...(reason === undefined ? {} : { reason }),
      ...(remember === undefined ? {} : { remember }),
      ...(changed === undefined ? {} : { arguments: changed }),
    }),
})

const decideMany = defineRoute({
  method: 'POST',
  path: '/api/approvals/decide',
  operationId: 'decideApprovals',
  summary: 'One decision on up to 100 requests, each recorded by itself',
  permission: 'approvals.decide',
  body: DecideBody,
  response: DecideOutcomes,
  errors: [],
  async handle(op, app, { body: { ids, decision, reason, digests } }) {
    const outcomes = await app.decideApprovals(op, {
      ids,
      decision,
      ...(reason === undefined ? {} : { reason }),
      ...(digests === undefined ? {} : { digests }),
    })
    return ok({ outcomes: [...outcomes] })
  },
})

const reject = defineRoute({
  method: 'POST',
  path: '/api/approvals/:id/reject',
  operationId: 'rejectApproval',
  summary: 'Refuse it; the agent reads the reason',
  permission: 'approvals.decide',
  params,
  body: RejectBody,
  response: Approval,
  errors: ['ApprovalNotFound', 'ApprovalNotPending'],
  handle: (op, app, { params: { id }, body: { reason } }) =>
    decide(op, app, {
      approval_id: id,
      decision: 'reject',
      ...(reason === undefined ? {} : { reason }),
    }),
})

export const approvalRoutes: readonly Route[] = [list, stream, show, decideMany, approve, reject]
