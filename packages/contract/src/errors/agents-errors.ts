import { type ErrorEntry, entry } from './error-entry.ts'

/** Agents, sessions, tokens. */
export const agentsErrors = {
  AgentNotFound: entry(404, -32602, false, 'There is no agent {agent}.', [
    { action: 'check the name', description: 'Use the name of an agent that exists.' },
  ]),
  AgentExists: entry(409, -32602, false, 'There is already an agent {agent}.', [
    {
      action: 'choose another name',
      description: 'Choose another name: names of revoked agents stay taken, too.',
    },
  ]),
  AgentStateConflict: entry(409, -32602, false, 'Agent {agent} is {status}: {detail}', [
    { action: 'gatehouse agent show', description: 'See the state of the agent first.' },
  ]),
  AgentChanged: entry(
    412,
    -32602,
    false,
    'Agent {agent} was changed by somebody else; it is at version {version} now.',
    [
      {
        action: 'gatehouse agent show',
        description: 'Read the agent again, and send the change with the ETag of that answer.',
      },
    ],
  ),
  SessionNotFound: entry(
    404,
    -32602,
    false,
    'There is no open session {session_id} of this agent.',
    [
      {
        action: 'begin a session',
        description: 'Open a new session, or make the call without one.',
      },
    ],
  ),
  UserTokenNotFound: entry(404, -32602, false, 'There is no user token {id}.', [
    { action: 'gatehouse user-token list', description: 'See which tokens there are.' },
  ]),
  NotFound: entry(404, -32602, false, '{path} does not exist.', [
    {
      action: 'check the address',
      description: 'The API description at /api/openapi.json lists every path.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
