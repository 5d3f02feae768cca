import { type ErrorEntry, entry } from './error-entry.ts'

/** Arguments and names. */
export const argumentsErrors = {
  InvalidArguments: entry(400, null, false, 'The arguments do not fit {capability}: {detail}', [
    { action: 'fix the arguments', description: 'Correct what the message names and call again.' },
  ]),
  InvalidParams: entry(400, -32602, false, 'Invalid params: {detail}', [
    {
      action: 'fix the parameters',
      description: 'Correct what the message names and send the request again.',
    },
  ]),
  InvalidRequest: entry(400, -32600, false, 'Invalid request: {detail}', [
    {
      action: 'fix the request',
      description: 'Correct what the message names and send the request again.',
    },
  ]),
  ParseError: entry(400, -32700, false, 'The body is not valid JSON: {detail}', [
    { action: 'fix the body', description: 'Send one JSON value in UTF-8.' },
  ]),
  MethodNotFound: entry(404, -32601, false, 'There is no method {method}.', [
    {
      action: 'list the methods',
      description: 'The reference names them; MCP calls tools with tools/call.',
    },
  ]),
  UnknownCapability: entry(
    404,
    -32602,
    false,
    'There is no capability {capability}.',
    [{ action: 'agent.capabilities', description: 'List what you may call.' }],
    [
      {
        action: 'gatehouse policy show',
        description:
          'Compare it with the names in policy; docs/reference/capabilities.md lists all.',
      },
    ],
  ),
} as const satisfies Record<string, ErrorEntry>
