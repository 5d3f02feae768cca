import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'

const socketName = 'engine.sock'
/** Only names it: a socket cannot be opened any other way. */
const pathOnly = 0x200000
/** Embeddings of a whole batch stay far below; what an engine sends beyond is not read. */
const answerBytesMax = 64 * 1024 * 1024
const refusalBytesMax = 16 * 1024
/** One part of a text: a word or two, and the figures at its end. */
const lineMax = 256 * 1024

const failed = (detail: string, cause?: unknown): GatehouseError =>
  new GatehouseError('EngineFailed', { detail }, { cause })

async function* chunksOf(response: IncomingMessage, bytesMax: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bytesMax) throw failed('it answers without end')
    yield decoder.decode(chunk, { stream: true })
  }
}

const textOf = async (response: IncomingMessage, bytesMax: number): Promise<string> => {
  let text = ''
  for await (const chunk of chunksOf(response, bytesMax)) text += chunk
  return text
}

/** Refusal of an engine. */
export type Refused = { readonly code: string; readonly message: string }

export class RefusedByEngine extends Error {
  readonly refused: Refused

  constructor(refused: Refused) {
    super(refused.message)
    this.refused = refused
  }
}

const refusalOf = (text: string): Refused => {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } }
    return { code: String(error?.code), message: String(error?.message).slice(0, 500) }
  } catch {
    return { code: 'failed', message: 'it answers something else than JSON' }
  }
}

/** HTTP to the one socket in the folder that a child shares with us. Nothing that comes back is believed. */
export class EngineSocket implements Disposable {
  readonly #path: string
  /** The socket itself: what stands at its path later is of no interest. */
  #held: number | null = null

  constructor(folder: string) {
    this.#path = join(folder, socketName)
  }

  /** The text of an answer; raises `RefusedByEngine` for a refusal. */
  async ask(path: string, body: object | null, signal: AbortSignal): Promise<string> {
    return textOf(await this.#send(path, body, signal), answerBytesMax)
  }

  /** The data of server-sent events as they come, without the one that ends them. */
  async *events(path: string, body: object, signal: AbortSignal): AsyncGenerator<string> {
    let rest = ''
    for await (const chunk of chunksOf(await this.#send(path, body, signal), answerBytesMax)) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > lineMax) throw failed('it answers without end')
      for (const line of lines)
        if (line.startsWith('data: ') && line !== 'data: [DONE]') yield line.slice(6)
    }
  }

  [Symbol.dispose](): void {
    if (this.#held !== null) closeSync(this.#held)
    this.#held = null
  }

  /** By a descriptor: the whole path may be longer than the address of a socket can be, too. */
  #address(): string {
    if (process.platform !== 'linux') return this.#path
    // @SECURITY Programs inside may put a link to a socket of the host in its place; profile.test.ts.
    this.#held ??= openSync(this.#path, pathOnly | constants.O_NOFOLLOW)
    if (!fstatSync(this.#held).isSocket()) throw failed('its socket is none')
    return `/proc/self/fd/${this.#held}`
  }

  async #send(path: string, body: object | null, signal: AbortSignal): Promise<IncomingMessage> {
    const text = body === null ? null : JSON.stringify(body)
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        socketPath: this.#address(),
        path,
        method: text === null ? 'GET' : 'POST',
        agent: false,
        signal,
        headers: text === null ? {} : { 'content-type': 'application/json' },
      })
      outgoing.once('response', resolve)
      outgoing.once('error', (cause) => reject(failed('it does not answer', cause)))
      outgoing.end(text ?? undefined)
    })
    if (response.statusCode === 200) return response
    throw new RefusedByEngine(refusalOf(await textOf(response, refusalBytesMax)))
  }
}
