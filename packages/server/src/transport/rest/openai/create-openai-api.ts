import { GatehouseError } from '@gatehouse/contract'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import type { UsableModel } from '../../../ports/inference.ts'
import type { Log } from '../../../ports/log.ts'
import { assertPermitted, authenticate } from '../authorize.ts'
import { readJsonBody } from '../body.ts'
import { toGatehouseError } from '../problem.ts'
import { errorResponse } from './errors.ts'
import { generation } from './generation.ts'
import {
  ChatRequest,
  CompletionRequest,
  chatTaskOf,
  completionTaskOf,
  EmbeddingRequest,
  parse,
} from './requests.ts'

type Visit = { readonly requestId: string; readonly signal: AbortSignal }
type Answer = (op: Op, request: Request, id: string) => Promise<Response>

const modelRecord = ({ id }: UsableModel) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'gatehouse',
})

const base64Of = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64')

export const isOpenAiPath = (path: string): boolean => path === '/v1' || path.startsWith('/v1/')

/**
 * Local models as programs of people reach them that speak the API of OpenAI: models, chat and text
 * completions, embeddings. With a user token of any role: it shows nothing of the service.
 */
export function createOpenAiApi({ app, log }: { readonly app: App; readonly log: Log }) {
  const answers: Readonly<Record<string, Answer>> = {
    async 'GET /v1/models'(op) {
      return Response.json({
        object: 'list',
        data: (await app.listUsableModels(op)).map(modelRecord),
      })
    },
    async 'GET /v1/models/:id'(op, _request, id) {
      const found = (await app.listUsableModels(op)).find((model) => model.id === id)
      if (!found) throw new GatehouseError('ModelNotFound', { id: id.slice(0, 200) })
      return Response.json(modelRecord(found))
    },
    async 'POST /v1/chat/completions'(op, request) {
      const asked = parse(ChatRequest, await readJsonBody(request))
      return generate(op, asked, chatTaskOf(asked))
    },
    async 'POST /v1/completions'(op, request) {
      const asked = parse(CompletionRequest, await readJsonBody(request))
      return generate(op, asked, completionTaskOf(asked))
    },
    async 'POST /v1/embeddings'(op, request) {
      const asked = parse(EmbeddingRequest, await readJsonBody(request))
      const { model, vectors, usage } = await app.embedTexts(op, {
        model: asked.model ?? undefined,
        inputs: typeof asked.input === 'string' ? [asked.input] : asked.input,
      })
      const data = vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: asked.encoding_format === 'base64' ? base64Of(vector) : vector,
      }))
      return Response.json({ object: 'list', model, data, usage })
    },
  }

  const toKnown = (requestId: string) => (cause: unknown) => {
    const known = toGatehouseError(cause, requestId)
    if (known.entry.http >= 500) log.error({ request_id: requestId, err: cause }, 'request failed')
    return known
  }

  const generate = (
    op: Op,
    asked: Pick<
      ReturnType<typeof parse<typeof ChatRequest>>,
      'model' | 'stream' | 'stream_options'
    >,
    task: Parameters<typeof generation>[2]['task'],
  ) =>
    generation(
      app,
      op,
      {
        model: asked.model ?? undefined,
        task,
        stream: asked.stream === true,
        includeUsage: asked.stream_options?.include_usage === true,
      },
      toKnown(op.request_id),
    )

  const find = (method: string, path: string): readonly [Answer, id: string] => {
    const answer = answers[`${method} ${path}`]
    if (answer && Object.hasOwn(answers, `${method} ${path}`)) return [answer, '']
    const named = /^\/v1\/models\/([^/]{1,400})$/.exec(path)?.[1]
    const one = answers['GET /v1/models/:id']
    if (named !== undefined && method === 'GET' && one) return [one, decoded(named)]
    throw new GatehouseError('NotFound', { path })
  }

  return {
    async fetch(request: Request, { requestId, signal }: Visit): Promise<Response> {
      try {
        const { actor } = await authenticate(app, request.headers.get('authorization'))
        assertPermitted(actor, 'models.use')
        const [answer, id] = find(request.method, new URL(request.url).pathname)
        const op: Op = { actor, request_id: requestId, session_id: null, signal }
        return await answer(op, request, id)
      } catch (cause) {
        return errorResponse(toKnown(requestId)(cause))
      }
    },
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
