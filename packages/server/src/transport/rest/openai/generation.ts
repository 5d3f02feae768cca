import type { GatehouseError } from '@gatehouse/contract'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import type { EngineTask, Generated } from '../../../ports/engine.ts'
import { streamOf } from '../event-stream.ts'
import { errorBody } from './errors.ts'

export type Asked = {
  readonly model: string | undefined
  readonly task: EngineTask
  readonly stream: boolean
  readonly includeUsage: boolean
}

type Shape = {
  readonly id: string
  readonly objects: readonly [part: string, whole: string]
  part(text: string, isFirst: boolean): object
  end: object
  whole(text: string): object
}

const shapes: Readonly<Record<EngineTask['kind'], Shape>> = {
  chat: {
    id: 'chatcmpl',
    objects: ['chat.completion.chunk', 'chat.completion'],
    part: (content, isFirst) => ({
      delta: isFirst ? { role: 'assistant', content } : { content },
    }),
    end: { delta: {} },
    whole: (content) => ({ message: { role: 'assistant', content, refusal: null } }),
  },
  complete: {
    id: 'cmpl',
    objects: ['text_completion', 'text_completion'],
    part: (text) => ({ text }),
    end: { text: '' },
    whole: (text) => ({ text }),
  },
}

type Told =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end'; readonly result: Generated & { readonly model: string } }
  | { readonly kind: 'failed'; readonly cause: unknown }

/** Events of a generation, in order, for a reader at his own pace. */
async function* toldBy(app: App, op: Op, { model, task }: Asked): AsyncGenerator<Told, void> {
  const waiting: Told[] = []
  let wake = () => {}
  const tell = (told: Told) => {
    waiting.push(told)
    wake()
  }
  app.generateText(op, { model, task, onText: (text) => tell({ kind: 'text', text }) }).then(
    (result) => tell({ kind: 'end', result }),
    (cause: unknown) => tell({ kind: 'failed', cause }),
  )
  for (;;) {
    if (waiting.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    for (const told of waiting.splice(0)) {
      yield told
      if (told.kind !== 'text') return
    }
  }
}

/** The answer to a request for text: whole, or as it comes. A failure before the first word is thrown. */
export async function generation(
  app: App,
  op: Op,
  asked: Asked,
  toKnown: (cause: unknown) => GatehouseError,
): Promise<Response> {
  const shape = shapes[asked.task.kind]
  const base = {
    id: `${shape.id}-${op.request_id}`,
    created: Math.floor(Date.now() / 1000),
    system_fingerprint: 'gatehouse',
  }
  const choice = (part: object, finish_reason: string | null) => [
    { index: 0, ...part, logprobs: null, finish_reason },
  ]
  const { model, task } = asked
  if (!asked.stream) {
    const result = await app.generateText(op, { model, task, onText: () => {} })
    return Response.json({
      ...base,
      object: shape.objects[1],
      model: result.model,
      choices: choice(shape.whole(result.text), result.finish_reason),
      usage: result.usage,
    })
  }
  const gone = new AbortController()
  const told = toldBy(app, { ...op, signal: AbortSignal.any([op.signal, gone.signal]) }, asked)
  const first = await told.next()
  if (first.value?.kind === 'failed') throw first.value.cause

  const named = { ...base, object: shape.objects[0], model: model ?? 'default' }
  const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const frameOf = (one: Told, isFirst: boolean): string => {
    if (one.kind === 'text')
      return frame({ ...named, choices: choice(shape.part(one.text, isFirst), null) })
    if (one.kind === 'failed') return frame(errorBody(toKnown(one.cause)))
    const { finish_reason, usage } = one.result
    const last = frame({ ...named, choices: choice(shape.end, finish_reason) })
    const used = asked.includeUsage ? frame({ ...named, choices: [], usage }) : ''
    return `${last}${used}data: [DONE]\n\n`
  }
  async function* frames(): AsyncGenerator<string> {
    if (first.value) yield frameOf(first.value, true)
    if (first.value?.kind !== 'text') return
    for await (const one of told) yield frameOf(one, false)
  }
  return new Response(
    streamOf(frames(), () => gone.abort()),
    { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } },
  )
}
