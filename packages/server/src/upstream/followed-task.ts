import { setTimeout as sleep } from 'node:timers/promises'
import type { GatehouseError } from '@gatehouse/contract'
import { ProtocolError } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { WireTool } from '../ports/upstream.ts'

/** Under which a server of 2026-07-28 may answer a call with a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

const pollMs = { least: 100, usual: 1_000, most: 10_000 }

const Task = z.looseObject({
  taskId: z.string().min(1).max(1_000),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional(),
  /** In 2025-11-25. */
  pollInterval: z.number().optional(),
  /** In 2026-07-28. */
  pollIntervalMs: z.number().optional(),
  inputRequests: z.record(z.string(), z.unknown()).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
})
type Task = z.infer<typeof Task>

/** Whether a server of 2025-11-25 answers a call of this tool with a task, and not otherwise. */
export const wantsTask = ({ execution }: WireTool): boolean =>
  (execution as { readonly taskSupport?: unknown } | undefined)?.taskSupport === 'required'

/** How the server of a task is spoken to, about the call that it stands for. */
export type TaskWay = {
  readonly isModern: boolean
  readonly signal: AbortSignal
  ask(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Puts what the server wants to know to people. */
  reply(inputRequests: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
  tell(statusMessage: string): void
  failed(why: string, cause?: unknown): GatehouseError
}

const pauseOf = ({ pollInterval, pollIntervalMs }: Task): number =>
  Math.min(pollMs.most, Math.max(pollMs.least, pollIntervalMs ?? pollInterval ?? pollMs.usual))

class FollowedTask {
  readonly #way: TaskWay
  readonly #answered = new Set<string>()
  #task: Task
  #told: string | undefined

  constructor(way: TaskWay, handle: unknown) {
    this.#way = way
    this.#task = this.#read(handle)
  }

  get id(): string {
    return this.#task.taskId
  }

  async end(): Promise<unknown> {
    const { isModern, signal } = this.#way
    for (;;) {
      const { status, statusMessage } = this.#task
      if (statusMessage !== undefined && statusMessage !== this.#told) this.#way.tell(statusMessage)
      this.#told = statusMessage
      if (status === 'cancelled') throw this.#way.failed('it cancelled the task of the call')
      if (status !== 'working' && !isModern) return this.#ask('tasks/result')
      if (status === 'completed') return this.#task.result ?? {}
      if (status === 'failed') throw this.#failure()
      // Questions that were answered may still be listed until the server has read the answers.
      if (!(await this.#answer())) await sleep(pauseOf(this.#task), undefined, { signal })
      const { taskId } = this.#task
      this.#task = this.#read(await this.#ask('tasks/get'))
      if (this.#task.taskId !== taskId) throw this.#way.failed('it tells of another task')
    }
  }

  #ask(method: string, more: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return this.#way.ask(method, { taskId: this.id, ...more })
  }

  #read(task: unknown): Task {
    const read = Task.safeParse(task)
    if (read.success) return read.data
    throw this.#way.failed('its task has not the form that the protocol asks for')
  }

  /** Whether there was something new to answer. */
  async #answer(): Promise<boolean> {
    const { inputRequests = {} } = this.#task
    const open = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key))
    if (open.length === 0) return false
    const inputResponses = await this.#way.reply(Object.fromEntries(open))
    await this.#ask('tasks/update', { inputResponses })
    for (const [key] of open) this.#answered.add(key)
    return true
  }

  #failure(): GatehouseError {
    const { code = 0, message = 'the task failed' } = this.#task.error ?? {}
    return this.#way.failed(message, new ProtocolError(code, message))
  }
}

/** Outcome of a task that a server answered a call with. Where nobody waits for it any more, the server is told. */
export const followTask = async (handle: unknown, way: TaskWay): Promise<unknown> => {
  const task = new FollowedTask(way, handle)
  try {
    return await task.end()
  } catch (cause) {
    if (way.signal.aborted) way.ask('tasks/cancel', { taskId: task.id }).catch(() => {})
    throw cause
  }
}
