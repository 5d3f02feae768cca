import {
  type MirroredArgument,
  mirroredArguments,
  mirroredHeaders,
} from '@gatehouse/contract/mirrored-arguments'
import { deliver, type Way } from './deliver.ts'
import type { Answer } from './gateway.ts'
import { isMembers, modernHeaders, parseMembers, type Request, readMessage } from './message.ts'

/** Code of the refusal of a call whose headers do not say what its body says. */
const mismatchCode = -32_020
const pagesMax = 20

const isMismatch = ({ status, text }: Answer): boolean => {
  if (status !== 400) return false
  const error = parseMembers(text)?.['error']
  return isMembers(error) && error['code'] === mismatchCode
}

/**
 * Requests of the era without a handshake. Some tools want arguments in headers of HTTP, too, of which a client on
 * standard streams knows nothing: the first call of such a tool is refused, before it does anything, and made again.
 */
export class MirroredCalls {
  readonly #way: Way
  #known: ReadonlyMap<string, readonly MirroredArgument[]> = new Map()

  constructor(way: Way) {
    this.#way = way
  }

  async exchange(
    request: Request,
    signal: AbortSignal,
    repeats: boolean,
    hear: (text: string) => Promise<void>,
  ): Promise<Answer> {
    const first = await this.#send(request, signal, repeats, hear)
    if (request.method !== 'tools/call' || !isMismatch(first)) return first
    await this.#learn(request, signal)
    return await this.#send(request, signal, repeats, hear)
  }

  #send(
    request: Request,
    signal: AbortSignal,
    repeats: boolean,
    hear: (text: string) => Promise<void>,
  ): Promise<Answer> {
    const { line: body, params } = request
    const mirrored = request.method === 'tools/call' ? this.#known.get(String(params['name'])) : []
    const headers = {
      ...modernHeaders(request),
      ...mirroredHeaders(mirrored ?? [], params['arguments']),
    }
    return deliver(this.#way, { method: 'POST', headers, body, signal }, repeats, hear)
  }

  /** Lists the tools as the client of that request would. */
  async #learn({ params }: Request, signal: AbortSignal): Promise<void> {
    const known = new Map<string, readonly MirroredArgument[]>()
    let cursor: unknown
    for (let page = 0; page < pagesMax; page += 1) {
      const asked = { _meta: params['_meta'], ...(cursor === undefined ? {} : { cursor }) }
      const line = Buffer.from(
        JSON.stringify({ jsonrpc: '2.0', id: 'bridge', method: 'tools/list', params: asked }),
      )
      const request = readMessage(line)
      if (request.kind !== 'request') return
      let text = ''
      const answer = await this.#send(request, signal, true, async (event) => {
        text = event
      })
      const result = parseMembers(text || answer.text)?.['result']
      const { tools, nextCursor } = isMembers(result) ? result : {}
      for (const tool of Array.isArray(tools) ? tools : [])
        if (isMembers(tool)) known.set(String(tool['name']), mirroredArguments(tool['inputSchema']))
      cursor = nextCursor
      if (typeof cursor !== 'string') break
    }
    this.#known = known
  }
}
