import { type Approval, GatehouseError } from '@gatehouse/contract'
import type { approvalRoutes } from '@gatehouse/contract/routes/approvals'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import { type Handlers, Refusal } from '../handler.ts'
import { withPeriod } from '../with-period.ts'

/** Without a limit, all that are pending come, and so many of the others. */
const decidedMax = 100

type Decision = Parameters<App['decideApproval']>[1]

const shownConflicts: ReadonlySet<string> = new Set(['ApprovalDigestMismatch', 'ApprovalStale'])

/** A decision that comes too late, or on something else than was shown, gets the record as it stands. */
async function decide(op: Op, app: App, decision: Decision): Promise<Approval | Refusal> {
  const { approval_id } = decision
  try {
    const { kind, approval } = await app.decideApproval(op, decision)
    if (kind === 'decided') return approval
    const facts = { approval_id, status: approval.status }
    return new Refusal('ApprovalNotPending', facts, { current: approval })
  } catch (error) {
    if (!(error instanceof GatehouseError) || !shownConflicts.has(error.type)) throw error
    const current = await app.showApproval(op, { approval_id })
    return new Refusal(error.type, error.facts, { current })
  }
}

export const approvalHandlers: Handlers<typeof approvalRoutes> = {
  listApprovals: (op, app, { status, limit, ...filter }) =>
    app.listApprovals(op, {
      ...withPeriod(filter),
      ...(status === 'all' ? {} : { status }),
      limit: limit ?? (status === 'pending' ? Number.MAX_SAFE_INTEGER : decidedMax),
    }),

  streamApprovals: (op, app) => ({
    kind: 'events',
    async source(emit) {
      // Listening begins before the list is read, so that nothing falls between the two. What is told meanwhile
      // comes after the list, which may be older: its reader takes the list for all that waits.
      let isListed = false
      const held: Approval[] = []
      const tell = (approval: Approval) => {
        if (isListed) emit({ name: 'approval', key: approval.id, data: approval })
        else held.push(approval)
      }
      const approvals = app.subscribeApprovals(tell)
      const questions = app.subscribeQuestions((question) =>
        emit({ name: 'question', key: question.id, data: question }),
      )
      const subscription = {
        [Symbol.dispose]() {
          approvals[Symbol.dispose]()
          questions[Symbol.dispose]()
        },
      }
      const limit = Number.MAX_SAFE_INTEGER
      const pending = { status: 'pending', limit, offset: 0 } as const
      try {
        const snapshot = await app.listApprovals(op, pending)
        emit({ name: 'snapshot', key: 'snapshot', data: snapshot })
        isListed = true
        for (const approval of held.splice(0)) tell(approval)
      } catch (error) {
        subscription[Symbol.dispose]()
        throw error
      }
      return subscription
    },
  }),

  showApproval: (op, app, { id }) => app.showApproval(op, { approval_id: id }),

  decideApprovals: async (op, app, input) => ({ outcomes: await app.decideApprovals(op, input) }),

  approveApproval: (op, app, { id, ...given }) =>
    decide(op, app, { approval_id: id, decision: 'approve', ...given }),

  rejectApproval: (op, app, { id, ...given }) =>
    decide(op, app, { approval_id: id, decision: 'reject', ...given }),
}
