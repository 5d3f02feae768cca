import { McpServer, ProtocolError, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Instead, serveMcp } from './serve-mcp.ts'

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
      inputSchema: z.object({
        region: z.string().meta({ 'x-mcp-header': 'Region' }),
        key: z.string().meta({ 'x-mcp-header': 'Key', writeOnly: true }).optional(),
      }),
    },
    ({ region }) => ({ content: [{ type: 'text', text: `notes of ${region}` }] }),
  )
  return server
}

/** A server that has prompts, resources and completions. */
export const openNotes = (instead?: Instead) => serveMcp(createNotes, instead)
