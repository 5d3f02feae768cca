export type { Capabilities } from './capabilities.ts'
export type { AnyName, ArgumentsOf, CapabilityName, ResultOf } from './capability-call.ts'
export * as errors from './errors.ts'
export { Gatehouse } from './gatehouse.ts'
export type { Recovery } from './gatehouse-error.ts'
export type {
  CallOptions,
  EventOptions,
  GateEvent,
  GatehouseOptions,
  Pending,
  WaitOptions,
} from './options.ts'
export type { Fetch, FetchInit } from './rpc.ts'
