import type { PolicyProblem } from '@gatehouse/contract'
import type { CompiledPolicy } from '../domain/policy/compile.ts'

/** The policy in force. */
export interface PolicySource {
  /** Must be the last good policy: a file that is refused never changes it. */
  current(): CompiledPolicy

  /** What is wrong with the files as they stand now; errors mean that an older version is in force. */
  problems(): readonly PolicyProblem[]

  /** Must call the listener after each change of the policy in force. */
  onChange(listener: (policy: CompiledPolicy) => void): Disposable

  /** Must read the files again now and resolve when the outcome stands. */
  reload(): Promise<void>
}
