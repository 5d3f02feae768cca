import type { ServerContext } from '@modelcontextprotocol/server'

export type Members = Readonly<Record<string, unknown>>
export type ToolRun = (args: Members, ctx: ServerContext) => unknown
export type FixtureTool = {
  readonly description: string
  readonly inputSchema?: Members
  readonly run: ToolRun
}

/** A result that is a text and nothing else. */
export const said = (text: string) => ({ content: [{ type: 'text', text }] })
