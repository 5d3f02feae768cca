import type { LogFinding } from '@gatehouse/contract'

/** Finding that another node has of the audit log, and what a person does about it. */
export type FoundByNode = Pick<LogFinding, 'kind' | 'detail'> & {
  readonly node: string
  readonly remedy: string
}
