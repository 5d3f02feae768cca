import { z } from 'zod'
import { fittedAction } from '../../domain/upstream/tool-names.ts'
import { defineCapability } from '../define.ts'
import { outputs, permit, toolField, unconfined, version } from './fields.ts'

export const fetch = defineCapability({
  name: 'client.fetch',
  title: 'Fetch address by the client',
  version,
  purpose: 'Let the client fetch an address by itself.',
  when_to_use:
    'Asked for by the hook of a coding agent. Policy is asked about network.http_request.',
  inputs: z.strictObject({ tool: toolField, url: z.string().min(1).max(8192) }),
  outputs,
  tier: 'autonomous',
  effect: 'immediate',
  reach: 'open',
  performer: 'client',
  side_effects: [
    { what: 'a request to the address, seen by whoever serves it', reversible: false },
  ],
  common_patterns: [
    { title: 'Read a page', arguments: { tool: 'WebFetch', url: 'https://example.org/guide' } },
  ],
  errors: [],
  preview: ({ url }) => ({ kind: 'url', method: 'GET', url, text: unconfined }),
  stands_for: ({ url }) => ({
    calls: [{ capability: 'network.http_request', arguments: { url } }],
    held: null,
  }),
  run: permit,
})

const shownCall = (name: string, given: Readonly<Record<string, unknown>>) =>
  ({
    kind: 'command',
    text: [name, JSON.stringify(given, null, 2), unconfined].join('\n'),
  }) as const

export const mcpTool = defineCapability({
  name: 'client.mcp_tool',
  title: 'Use MCP tool by the client',
  version,
  purpose: 'Let the client use a tool of an MCP server that it talks to by itself.',
  when_to_use:
    'Asked for by the hook of a coding agent. Policy is asked about the tool of the same name of a server of the same name behind the gate; where there is none, a person decides.',
  inputs: z.strictObject({
    server: z.string().min(1).max(1024).describe('The server as the client calls it.'),
    tool: toolField,
    arguments: z.record(z.string(), z.unknown()),
  }),
  outputs,
  tier: 'autonomous',
  effect: 'immediate',
  reach: 'open',
  performer: 'client',
  side_effects: [{ what: 'whatever the tool does', reversible: false }],
  common_patterns: [
    {
      title: 'Open an issue',
      arguments: { tool: 'create_issue', server: 'github', arguments: { title: 'Total is wrong' } },
    },
  ],
  errors: [],
  preview: ({ tool, server, arguments: given }) =>
    shownCall(`${tool} of the server ${server}`, given),
  stands_for: ({ tool, server, arguments: given }) => ({
    calls: [{ capability: `${server}.${fittedAction(tool) ?? ''}`, arguments: given }],
    held: null,
  }),
  run: permit,
})

export const tool = defineCapability({
  name: 'client.tool',
  title: 'Use other tool by the client',
  version,
  purpose: 'Let the client use a tool of its own of which nothing is known here.',
  when_to_use:
    'Asked for by the hook of a coding agent. A rule with args.tool decides about one such tool.',
  inputs: z.strictObject({ tool: toolField, arguments: z.record(z.string(), z.unknown()) }),
  outputs,
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  performer: 'client',
  side_effects: [{ what: 'whatever the tool does', reversible: false }],
  common_patterns: [
    { title: 'Search the web', arguments: { tool: 'WebSearch', arguments: { query: 'cel-js' } } },
  ],
  errors: [],
  preview: ({ tool: name, arguments: given }) => shownCall(name, given),
  run: permit,
})

export const plan = defineCapability({
  name: 'client.plan',
  title: 'Plan by the client',
  version,
  purpose: 'Let the client use a tool that touches nothing but its own plans and helpers.',
  when_to_use: 'Asked for by the hook of a coding agent, for its lists of tasks and the like.',
  inputs: z.strictObject({ tool: toolField }),
  outputs,
  tier: 'autonomous',
  effect: 'none',
  performer: 'client',
  common_patterns: [{ title: 'Keep a list of tasks', arguments: { tool: 'TodoWrite' } }],
  errors: [],
  run: permit,
})
