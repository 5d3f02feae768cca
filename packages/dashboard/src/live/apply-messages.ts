import type {
  Approval,
  ApprovalList,
  ModelJob,
  ModelList,
  ProxyStatus,
  ServiceSync,
} from '@gatehouse/contract'
import type { QueryClient, QueryFilters } from '@tanstack/react-query'
import type { LiveMessage } from './live-message.ts'

const pendingKey = ['listApprovals', {}]

/** The list of what waits, after one more thing was heard of a request. */
export function withApproval(list: ApprovalList, approval: Approval): ApprovalList {
  const without = list.approvals.filter(({ id }) => id !== approval.id)
  const was = without.length < list.approvals.length
  const waits = approval.status === 'pending'
  const at = list.approvals.findIndex(({ id }) => id === approval.id)
  const place = was ? at : without.length
  return {
    approvals: waits ? without.toSpliced(place, 0, approval) : without,
    total: list.total + Number(waits) - Number(was),
  }
}

/** Models after one more thing was heard of an installation. */
const withJob = (list: ModelList, job: ModelJob): ModelList => ({
  ...list,
  models: list.models.map((model) => (model.id === job.model_id ? { ...model, job } : model)),
})

/** Services after one more thing was heard of how one is read. */
const withSync = ({ services }: ProxyStatus, sync: ServiceSync): ProxyStatus => ({
  services: services.map((service) =>
    service.name === sync.name ? { ...service, ...sync } : service,
  ),
})

/** Reads of these change with each call; others with what people and the service do. */
const movedByCalls = ['getStatus', 'listAgents', 'showAgent', 'queryAudit', 'getFigures']
/** Logins ask for themselves; entries of the log stay what they were. */
const leftAlone = new Set([
  ...['showSession', 'showSetup', 'openedEntries', 'olderEntries', 'entryBefore'],
])
const callPaceMs = 3_000
const actPaceMs = 400

/** Runs the work at most once in so long, the last time always. */
function paced(everyMs: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let ran = 0
  return () => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        ran = Date.now()
        work()
      },
      Math.max(50, ran + everyMs - Date.now()),
    )
  }
}

/** Keeps what pages have read in step with what the service tells. */
export function createApplier(client: QueryClient): (messages: readonly LiveMessage[]) => void {
  const refetch = async (names: (name: string) => boolean) => {
    const meant: QueryFilters = {
      predicate: ({ queryKey: [name] }) => typeof name === 'string' && names(name),
    }
    // An answer on its way for a page that somebody left was true before this, and would pass for true after it.
    await client.cancelQueries({ ...meant, type: 'inactive', fetchStatus: 'fetching' })
    await client.invalidateQueries({ ...meant, refetchType: 'active' })
  }
  const afterCalls = paced(callPaceMs, () => void refetch((name) => movedByCalls.includes(name)))
  const afterActs = paced(actPaceMs, () => void refetch((name) => !leftAlone.has(name)))
  return (messages) => {
    for (const message of messages) {
      switch (message.kind) {
        case 'approvals':
          client.setQueryData(pendingKey, message.list)
          break
        case 'approval':
          client.setQueryData<ApprovalList>(
            pendingKey,
            (list) => list && withApproval(list, message.approval),
          )
          client.setQueryData(['showApproval', { id: message.approval.id }], message.approval)
          afterActs()
          break
        case 'question':
          void client.invalidateQueries({ queryKey: ['listQuestions'] })
          break
        case 'model':
          client.setQueryData<ModelList>(
            ['listModels', {}],
            (list) => list && withJob(list, message.job),
          )
          // A run that ended changed more than its job: the file, or the rest of a download.
          if (message.job.status !== 'running') void refetch((name) => name === 'listModels')
          break
        case 'service':
          client.setQueryData<ProxyStatus>(
            ['showProxy', {}],
            (status) => status && withSync(status, message.sync),
          )
          if (message.sync.progress === null) void refetch((name) => name === 'showProxy')
          break
        case 'engine':
          client.setQueryData(['showEngine', {}], message.engine)
          break
        case 'activity':
          if (message.event.type === 'capability_invoked') afterCalls()
          else afterActs()
          break
        case 'state':
          // Changes made meanwhile are read anew.
          if (message.state === 'live') afterActs()
          if (message.state === 'refused')
            void client.invalidateQueries({ queryKey: ['showSession'] })
          break
      }
    }
  }
}
