import type {
  ActivityEvent,
  Approval,
  ApprovalList,
  EngineState,
  ModelJob,
  ServiceSync,
} from '@gatehouse/contract'

/** Messages of the open streams of the service, in the order they came. */
export type LiveMessage =
  | { readonly kind: 'activity'; readonly place: string; readonly event: ActivityEvent }
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'approvals'; readonly list: ApprovalList }
  | { readonly kind: 'question' }
  | { readonly kind: 'model'; readonly job: ModelJob }
  | { readonly kind: 'service'; readonly sync: ServiceSync }
  | { readonly kind: 'engine'; readonly engine: EngineState }
  | { readonly kind: 'state'; readonly state: LiveState }

/** `refused`: the service said no; a login has ended. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused'
