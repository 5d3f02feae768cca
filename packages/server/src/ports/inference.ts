import type { Embedded, EngineTask, Generated } from './engine.ts'

export type UsableModel = {
  readonly id: string
  readonly label: string | null
  readonly parameters: number
  readonly context_tokens: number
  readonly size_bytes: number
  /** Used where a caller names none. */
  readonly default: boolean
  /** In memory now: the first request need not wait for it. */
  readonly loaded: boolean
  /** Why it cannot be used although it is installed. */
  readonly quarantine: string | null
}

/** A result, and the model that made it. */
export type GeneratedBy = Generated & { readonly model: string }
export type EmbeddedBy = Embedded & { readonly model: string }

/** Local models as one call of an agent reaches them. */
export interface AgentInference {
  models(): Promise<readonly UsableModel[]>

  /**
   * Raises `NoModelChosen`, `ModelNotFound`, `ModelNotInstalled`, `ModelQuarantined`, `ModelTooLarge`,
   * `EngineNotInstalled`, `EngineBusy` and what an engine raises. `onText` gets all of the text so far.
   */
  generate(
    model: string | undefined,
    task: EngineTask,
    onText: (text: string) => void,
  ): Promise<GeneratedBy>

  embed(model: string | undefined, inputs: readonly string[]): Promise<EmbeddedBy>
}
