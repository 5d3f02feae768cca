import { type Approval, GatehouseError } from '@gatehouse/contract'
import type { ApprovalFilter } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'
import { approvalRecord } from './approval-record.ts'
import type { ApprovalSignals } from './approval-signals.ts'
import type { ConsequenceDeps } from './consequences.ts'
import type { StaleChecks } from './stale-checks.ts'

type Deps = Pick<Basics, 'storage'> & { readonly staleChecks: StaleChecks }

export async function listApprovals(
  deps: Deps,
  input: ApprovalFilter,
): Promise<{ readonly approvals: readonly Approval[]; readonly total: number }> {
  const { approvals, total } = await deps.storage.approvals.list(input)
  return { approvals: await deps.staleChecks.records(approvals), total }
}

export async function showApproval(
  deps: Deps,
  { approval_id }: { readonly approval_id: string },
): Promise<Approval> {
  const approval = await deps.storage.approvals.find(approval_id)
  if (!approval) throw new GatehouseError('ApprovalNotFound', { approval_id })
  return deps.staleChecks.record(approval)
}

export const subscribeApprovals = (
  deps: ConsequenceDeps & { readonly signals: ApprovalSignals },
  listener: (approval: Approval) => void,
): Disposable => deps.signals.on((approval) => listener(approvalRecord(deps, approval)))
