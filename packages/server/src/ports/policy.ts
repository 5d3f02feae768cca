import type { ActiveRule, PolicyProblem, ReadyPolicy } from '@gatehouse/contract'
import type { CompiledPolicy } from '../domain/policy/compile.ts'
import type { PolicyTexts } from '../domain/policy/merge-files.ts'

/** The active policy. */
export interface PolicySource {
  /** Must be the last good policy: a file that is refused never changes it. */
  current(): CompiledPolicy

  /** Problems of the files as they stand now; errors mean that an older version is active. */
  problems(): readonly PolicyProblem[]

  /** Must call the listener after each change of the active policy. */
  onChange(listener: (policy: CompiledPolicy) => void): Disposable

  /** Must read the files again now and resolve when the outcome stands. */
  reload(): Promise<void>
}

/** One file of the active policy. */
export type PolicyFileText = {
  readonly layer: string
  readonly file: string
  readonly agent: string | null
  readonly text: string
  /** Of this file alone; another one for each text. */
  readonly version: string
  /** Must be the rules that calls are decided by, whatever the text says now. */
  readonly active_rules: readonly ActiveRule[]
}

/** Result of a check of policy files. */
export type PolicyCheck = {
  readonly problems: readonly PolicyProblem[]
  /** Rules of the files that are valid, without those that ship. */
  readonly rules: number
  readonly testsPassed: number
}

/** A text in the place of a policy file: of the agent, or else of the organisation. */
export type PolicyDraft = { readonly text: string; readonly agent?: string | undefined }

export type SavePolicyFile = PolicyDraft & {
  /** Null or absent where any will do. */
  readonly versions?: readonly string[] | null
  readonly record?: () => Promise<unknown>
}

export type SavedPolicyFile = {
  readonly version: string
  readonly problems: readonly PolicyProblem[]
  /** The copy of the text that was replaced, below the folder of the policies. */
  readonly previous: string | null
  /** Of the file as it is now. */
  readonly file_version: string
  /** Whether it was of another version than those named, and is as it was. */
  readonly stale: boolean
}

/** The files behind a policy, for people who look at them and change them. */
export interface PolicyFiles extends PolicySource {
  files(): readonly PolicyFileText[]

  /** Must be the texts on the disk that calls are decided by, and the files whose text is another one or cannot be read. */
  texts(): { readonly texts: PolicyTexts; readonly unknown: readonly string[] }

  /** Must put these texts in their places, or remove the file where there is none, and activate them; what was there is kept aside. */
  place(changes: ReadonlyMap<string, string | null>): Promise<void>

  /** Must be the policies that ship to begin with; each is valid in the place of any file. */
  ready(): Promise<readonly ReadyPolicy[]>

  /** Must count the rules and tests of the active files, without those that ship. */
  countActive(): Omit<PolicyCheck, 'problems'>

  /** Must check a text as if it stood in that place, without changing anything. */
  validate(input: {
    readonly text: string
    readonly file: string
    readonly agent?: string
  }): PolicyCheck

  /** Must make the policy that would be active with the text in its place; null where the text is refused. */
  compile(draft: PolicyDraft): {
    readonly policy: CompiledPolicy | null
    readonly problems: readonly PolicyProblem[]
  }

  /**
   * Must store a text only when it has no error, whole or not at all, and activate it. Must store nothing where the file
   * has none of the versions that are named; the version of a file that is not there is `none`. Must wait for
   * `record` before it stores anything.
   */
  save(input: SavePolicyFile): Promise<SavedPolicyFile>
}
