import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A name that the suite uses, and the same thing's name at the gate. */
export type Rename = {
  readonly toGate: (name: string) => string
  readonly toSuite: (text: string) => string
}

type Members = Record<string, unknown>
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members of the parameters that name a tool, a prompt or a resource. */
const namingMembers = ['name', 'uri'] as const

const renamed = (body: Buffer, { toGate }: Rename): Buffer => {
  let message: unknown
  try {
    message = JSON.parse(body.toString())
  } catch {
    return body
  }
  const params = isMembers(message) ? message['params'] : undefined
  if (!isMembers(params) || (message as Members)['method'] === 'initialize') return body
  const named = [params, ...(isMembers(params['ref']) ? [params['ref']] : [])]
  let changed = false
  for (const members of named)
    for (const member of namingMembers) {
      const name = members[member]
      if (typeof name !== 'string') continue
      members[member] = toGate(name)
      changed ||= members[member] !== name
    }
  // What nothing has to be renamed in goes through byte for byte.
  return changed ? Buffer.from(JSON.stringify(message)) : body
}

/** Renames line by line, as an event and an answer are one line each. */
const answerRenamed = (answer: IncomingMessage, res: ServerResponse, { toSuite }: Rename): void => {
  const { 'content-length': _length, ...headers } = answer.headers
  res.writeHead(answer.statusCode ?? 502, headers)
  res.flushHeaders()
  answer.setEncoding('utf8')
  let line = ''
  answer.on('data', (text: string) => {
    line += text
    const end = line.lastIndexOf('\n') + 1
    res.write(toSuite(line.slice(0, end)))
    line = line.slice(end)
  })
  answer.once('end', () => res.end(toSuite(line)))
}

type Door = AsyncDisposable & {
  readonly url: string
  /** Where it leads from now on. */
  leadTo(gate: string, token: string): void
}

/**
 * Stands between the suite, which can send no token and calls plain names, and the gate. It adds the token, writes
 * the gate's address where it is asked for by its own, and renames. Everything else goes through as it is, foreign
 * hosts and all origins included.
 */
export const openDoor = async (rename: Rename | null): Promise<Door> => {
  let gate = new URL('http://127.0.0.1')
  let token = ''
  let own = ''
  const headersOf = (req: IncomingMessage, length: number): string[] => {
    const headers: string[] = ['Authorization', `Bearer ${token}`]
    for (let at = 0; at < req.rawHeaders.length; at += 2) {
      const [name = '', value = ''] = req.rawHeaders.slice(at, at + 2)
      const key = name.toLowerCase()
      if (key === 'content-length') headers.push(name, String(length))
      else if (key === 'host') headers.push(name, value === own ? gate.host : value)
      else headers.push(name, key === 'mcp-name' && rename ? rename.toGate(value) : value)
    }
    return headers
  }
  const pass = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const given = Buffer.concat(chunks)
    const body = rename ? renamed(given, rename) : given
    const { method, url: path } = req
    const headers = headersOf(req, body.length)
    const { hostname, port } = gate
    const sent = send({ hostname, port, path, method, headers, setHost: false })
    res.once('close', () => sent.destroy())
    sent.once('error', () => res.destroy())
    sent.once('response', (answer: IncomingMessage) => {
      answer.once('error', () => res.destroy())
      if (rename) answerRenamed(answer, res, rename)
      else {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        res.flushHeaders()
        answer.pipe(res)
      }
    })
    sent.end(body)
  }
  const server = createServer((req, res) => void pass(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  own = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${own}/mcp`,
    leadTo(address, agentToken) {
      gate = new URL(address)
      token = agentToken
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
