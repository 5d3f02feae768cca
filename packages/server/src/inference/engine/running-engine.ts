import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { Embedded, Engine, EngineExit, EngineTask, Generated } from '../../ports/engine.ts'
import type { SandboxChild } from '../../ports/sandbox.ts'
import { type EngineSocket, RefusedByEngine } from './engine-socket.ts'

const count = z.int().min(0)

const Part = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().optional() }).optional(),
        text: z.string().optional(),
        finish_reason: z.enum(['stop', 'length']).nullable(),
      }),
    )
    .length(1),
  usage: z
    .object({ prompt_tokens: count, completion_tokens: count, total_tokens: count })
    .optional(),
})

const Vectors = z.object({
  data: z.array(z.object({ embedding: z.array(z.number()).min(1) })),
  usage: z.object({ prompt_tokens: count, total_tokens: count }),
})

const Health = z.object({ busy: z.boolean(), memory_bytes: count })

export type Ready = { readonly context_tokens: number; readonly memory_bytes: number }

type Parts = {
  readonly child: SandboxChild
  readonly socket: EngineSocket
  readonly model: string
  readonly ready: Ready
  readonly exited: Promise<EngineExit>
}

const tokenCounts = /^\d+ tokens of prompt, and the context holds \d+$/

/** A model that is loaded in a child of ours. */
export class RunningEngine implements Engine {
  readonly pid: number
  readonly backend: Engine['backend']
  readonly context_tokens: number
  readonly exited: Promise<EngineExit>
  memory_bytes: number
  readonly #parts: Parts
  #ended: EngineExit | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.pid = parts.child.pid
    this.backend = parts.child.backend
    this.context_tokens = parts.ready.context_tokens
    this.memory_bytes = parts.ready.memory_bytes
    this.exited = parts.exited
    void parts.exited.then((exit) => {
      this.#ended = exit
    })
  }

  generate(
    task: EngineTask,
    onText: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Generated> {
    return this.#answered(signal, async () => {
      const { kind, ...given } = task
      const path = kind === 'chat' ? '/v1/chat/completions' : '/v1/completions'
      let text = ''
      for await (const data of this.#parts.socket.events(
        path,
        { ...given, stream: true },
        signal,
      )) {
        const { choices, usage } = Part.parse(JSON.parse(data))
        const [choice] = choices
        const more = choice?.delta?.content ?? choice?.text ?? ''
        text += more
        if (more !== '') onText(more)
        if (choice?.finish_reason && usage)
          return { text, finish_reason: choice.finish_reason, usage }
      }
      throw new GatehouseError('EngineFailed', { detail: 'it broke off in the middle of a text' })
    })
  }

  embed(inputs: readonly string[], signal: AbortSignal): Promise<Embedded> {
    return this.#answered(signal, async () => {
      const text = await this.#parts.socket.ask('/v1/embeddings', { input: inputs }, signal)
      const { data, usage } = Vectors.parse(JSON.parse(text))
      if (data.length !== inputs.length)
        throw new GatehouseError('EngineFailed', { detail: 'it answers another question' })
      return { vectors: data.map(({ embedding }) => embedding), usage }
    })
  }

  async becomesIdle(withinMs: number): Promise<boolean> {
    if (this.#ended) return false
    const late = AbortSignal.timeout(withinMs)
    try {
      for (;;) {
        const health = Health.parse(JSON.parse(await this.#parts.socket.ask('/health', null, late)))
        this.memory_bytes = health.memory_bytes
        if (!health.busy) return true
        await new Promise((resolve) => setTimeout(resolve, 20))
        if (late.aborted) return false
      }
    } catch {
      return false
    }
  }

  async kill(): Promise<void> {
    await this.#parts.child.end(0)
    await this.exited
  }

  /** Turns whatever goes wrong into our words; an answer that never comes ends with the process. */
  async #answered<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof RefusedByEngine) throw this.#refusal(cause)
      const exit = await Promise.race([
        this.exited,
        new Promise<null>((resolve) => setTimeout(() => resolve(null), 1_000)),
      ])
      if (exit) throw endedWhile('', exit)
      if (cause instanceof GatehouseError) throw cause
      throw new GatehouseError('EngineFailed', { detail: 'it answers nonsense' }, { cause })
    }
  }

  #refusal({ refused: { code, message } }: RefusedByEngine): GatehouseError {
    const { model } = this.#parts
    if (code === 'context_length_exceeded')
      return new GatehouseError('PromptTooLong', {
        model,
        detail: tokenCounts.test(message) ? message : 'the prompt is longer than the context',
      })
    const cause = new Error(message)
    if (code === 'schema_not_supported')
      return new GatehouseError(
        'GenerationRefused',
        { model, detail: 'the engine does not support the schema' },
        { cause },
      )
    return new GatehouseError('EngineFailed', { detail: 'it failed during the task' }, { cause })
  }
}

/** Last output of the engine is for the log alone: it is the text of a library. */
export const endedWhile = (doing: string, { how, said }: EngineExit): GatehouseError =>
  new GatehouseError(
    'EngineFailed',
    { detail: `${doing}${how}` },
    { cause: new Error(said || how) },
  )
