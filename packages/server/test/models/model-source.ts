import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority, issueLeaf } from '../../src/tls/issue.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

const names = { dns: ['localhost'], ip: ['127.0.0.1'] }

export const sha256Of = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/** An entry of a catalog for these bytes. */
export const entryOf = (id: string, url: string, bytes: Uint8Array) => ({
  id,
  url,
  sha256: sha256Of(bytes),
  size_bytes: bytes.length,
})

/** A server of catalogs and models by HTTPS with an authority of its own. It tells the truth unless told to lie. */
export class ModelSource implements AsyncDisposable {
  readonly #server: Server
  readonly #folder: string
  readonly #handlers = new Map<string, Handler>()
  /** Requests, in order. */
  readonly requests: {
    readonly path: string
    readonly range: string | null
    readonly etag: string | null
  }[] = []

  private constructor(server: Server, folder: string) {
    this.#server = server
    this.#folder = folder
  }

  static async open(): Promise<ModelSource> {
    const nowMs = Date.now()
    const authority = await issueAuthority({ names, nowMs })
    const leaf = await issueLeaf({ authority, names, nowMs })
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-source-'))
    writeFileSync(join(folder, 'ca.pem'), authority.cert)
    const server = createServer({ cert: leaf.cert, key: leaf.key })
    const source = new ModelSource(server, folder)
    server.on('request', (request, response) => source.#answer(request, response))
    server.on('tlsClientError', () => undefined)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return source
  }

  get caFile(): string {
    return join(this.#folder, 'ca.pem')
  }

  /** `127.0.0.1:port`, as an operator lists it. */
  get target(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  url(path: string): string {
    return `https://${this.target}${path}`
  }

  on(path: string, handler: Handler): string {
    this.#handlers.set(path, handler)
    return this.url(path)
  }

  /** A document with its ETag, answered with 304 to whoever has it. */
  json(path: string, value: unknown): string {
    const body = typeof value === 'string' ? value : JSON.stringify(value)
    const etag = `"${sha256Of(Buffer.from(body)).slice(0, 16)}"`
    return this.on(path, (request, response) => {
      if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
      response.writeHead(200, { 'content-type': 'application/json', etag }).end(body)
    })
  }

  /** A file that may be asked for in parts; `pace` sends so many bytes at a time, with a pause between. */
  file(
    path: string,
    bytes: Uint8Array,
    pace?: { readonly bytes: number; readonly ms: number },
  ): string {
    return this.on(path, (request, response) => {
      const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
      const to = Number(
        /^bytes=\d+-(\d+)$/.exec(request.headers.range ?? '')?.[1] ?? bytes.length - 1,
      )
      const part = bytes.subarray(from, Math.min(bytes.length, to + 1))
      const isPart = request.headers.range !== undefined
      response.writeHead(isPart ? 206 : 200, {
        'content-length': part.length,
        ...(isPart
          ? { 'content-range': `bytes ${from}-${from + part.length - 1}/${bytes.length}` }
          : {}),
      })
      send(response, part, pace)
    })
  }

  of(path: string) {
    return this.requests.filter((request) => request.path === path)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '/'
    const { range = null, 'if-none-match': etag = null } = request.headers
    this.requests.push({ path, range, etag })
    const handler = this.#handlers.get(path)
    if (handler) handler(request, response)
    else response.writeHead(404).end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function send(
  response: ServerResponse,
  bytes: Uint8Array,
  pace?: { readonly bytes: number; readonly ms: number },
): void {
  if (!pace) return void response.end(bytes)
  let at = 0
  const timer = setInterval(() => {
    if (response.destroyed) return clearInterval(timer)
    response.write(bytes.subarray(at, at + pace.bytes))
    at += pace.bytes
    if (at < bytes.length) return
    clearInterval(timer)
    response.end()
  }, pace.ms)
}
