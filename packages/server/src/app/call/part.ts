import type { ComponentStatus, Health } from '@gatehouse/contract'

/** How a part of the service is, and why it is not well. */
export type PartHealth = { readonly status: ComponentStatus; readonly reason?: string }

/** Components by their names in a health report. */
export type Components = Health['components']

/** A room of the application, bound to what it stands on: its use cases, and what looks after itself in it. */
export interface Part<UseCases extends object> {
  readonly useCases: UseCases
  /** Must begin whatever looks after itself here; called once, when every surface listens. */
  start(): Promise<void>
  /** Must end it again, whether or not it was started, and resolve when nothing of it runs any more. */
  stopped(): Promise<void>
}
