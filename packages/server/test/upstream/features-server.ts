import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  McpServer,
  ProtocolError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const createNotes = (): McpServer => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  server.registerPrompt(
    'sum-up',
    {
      title: 'Sum up',
      description: 'Sums up a note.\u202e',
      argsSchema: z.object({ note: z.string() }),
    },
    ({ note }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Sum up ${note}.` } }],
    }),
  )
  server.registerResource('first', 'notes://first', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Buy milk.' }],
  }))
  const template = new ResourceTemplate('notes://of/{day}', {
    list: undefined,
    complete: { day: (typed) => ['monday', 'tuesday'].filter((day) => day.startsWith(typed)) },
  })
  server.registerResource('day', template, { mimeType: 'text/plain' }, (uri, { day }) => {
    if (day !== 'monday') throw new ProtocolError(-32602, `no notes of ${String(day)}`)
    return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Water the plants.' }] }
  })
  server.registerTool(
    'of_region',
    {
      description: 'Notes of a region.',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    },
    ({ region }) => ({ content: [{ type: 'text', text: `notes of ${region}` }] }),
  )
  return server
}

/** A server over HTTP, made with the official SDK, that has prompts, resources and completions. */
export const openNotes = async (): Promise<
  AsyncDisposable & { readonly url: string; readonly requests: IncomingMessage[] }
> => {
  const requests: IncomingMessage[] = []
  const handler = createMcpHandler(createNotes)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(request)
    const { method = 'GET' } = request
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const body = method === 'POST' ? await bodyOf(request) : null
    const answered = await handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method,
        headers: headers as [string, string][],
        body,
      }),
    )
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    if (answered.body === null) response.end()
    else await pipeline(answered.body, response).catch(() => {})
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
