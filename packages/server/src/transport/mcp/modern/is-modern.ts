import type { IncomingMessage } from 'node:http'
import { isMembers } from '../../http/envelope.ts'

export const versionKey = 'io.modelcontextprotocol/protocolVersion'
const firstModernVersion = '2026-07-28'

/** Whether a message is of the era without a handshake, where each request says what it speaks. */
export const isModern = (req: IncomingMessage, value: unknown): boolean => {
  const header = req.headers['mcp-protocol-version']
  if (typeof header === 'string' && header >= firstModernVersion) return true
  const params = isMembers(value) ? value['params'] : undefined
  const meta = isMembers(params) ? params['_meta'] : undefined
  return isMembers(meta) && versionKey in meta
}
