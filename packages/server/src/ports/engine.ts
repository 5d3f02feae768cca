import type { EnginePackage, TokenUsage } from '@gatehouse/contract'
import type { InstalledModel } from './models.ts'
import type { SandboxBackend } from './sandbox.ts'

/** The program that runs models, which is no part of the service and is installed on demand. */
export interface EngineInstaller {
  state(): Promise<EnginePackage>

  /**
   * Must install exactly the packages that are pinned, each with its hash checked and without running any code
   * of theirs, and show them only when they are complete. `report` is told of packages here and in all. Raises
   * `EngineSetupFailed` with what to do about it, and whatever the signal aborts with.
   */
  install(report: (done: number, total: number) => void, signal: AbortSignal): Promise<void>
}

export type ChatMessage = {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export type GenerationLimits = {
  readonly max_tokens: number
  readonly temperature: number
  readonly seed?: number | undefined
  readonly stop: readonly string[]
  /** Schema for the output: generated text fits it, unless it ends by length. */
  readonly json_schema?: Readonly<Record<string, unknown>> | undefined
}

export type EngineTask =
  | ({ readonly kind: 'chat'; readonly messages: readonly ChatMessage[] } & GenerationLimits)
  | ({ readonly kind: 'complete'; readonly prompt: string } & GenerationLimits)

export type Generated = {
  readonly text: string
  readonly finish_reason: 'stop' | 'length'
  readonly usage: TokenUsage
}

export type Embedded = {
  /** One for each input, of length 1. */
  readonly vectors: readonly (readonly number[])[]
  readonly usage: Pick<TokenUsage, 'prompt_tokens' | 'total_tokens'>
}

export type EngineExit = {
  /** In a word for people: `signal SIGABRT`, `code 3`. */
  readonly how: string
  /** Last words of the engine about itself before it ended, if there were any. */
  readonly said: string
}

/** One loaded model in a process of its own. One task at a time: whoever has it sees to that. */
export interface Engine {
  readonly pid: number
  readonly backend: SandboxBackend
  readonly context_tokens: number
  /** As it last said. */
  readonly memory_bytes: number
  /** Resolves when the process is gone, for whatever reason. Never rejects. */
  readonly exited: Promise<EngineExit>

  /**
   * `onText` gets the text as it comes. Raises `PromptTooLong`, `GenerationRefused`, `EngineFailed`. When the
   * signal aborts it must reject at once; whether the process stopped working is what `becomesIdle` says.
   */
  generate(
    task: EngineTask,
    onText: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Generated>

  embed(inputs: readonly string[], signal: AbortSignal): Promise<Embedded>

  /** Whether it is alive and does nothing, within so many milliseconds. Never rejects. */
  becomesIdle(withinMs: number): Promise<boolean>

  /** Must end the process and all that belongs to it, without waiting for its consent. */
  kill(): Promise<void>
}

export type EngineOrder = {
  readonly model: InstalledModel
  readonly context_tokens: number
  /** The most memory it may take. */
  readonly memory_bytes: number
}

export interface EngineHost {
  /**
   * Must load the model in the strongest sandbox that holds: with this file alone of all models, read-only,
   * without network, vault or state. Raises `EngineNotInstalled`, `SandboxUnavailable`, and `EngineFailed`
   * where the process ended or did not become ready in time.
   */
  start(order: EngineOrder, signal: AbortSignal): Promise<Engine>

  /** Memory that programs may still take, in bytes. */
  availableMemory(): Promise<number>
}
