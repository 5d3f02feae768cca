import { join } from 'node:path'
import { type ForeignProgram, foreignProgram } from '@gatehouse/testkit/programs'
import { type DrivenClient, openDrivenClient } from './driven-client.ts'

/** Where a client connects, and as whom. */
export type Access = { readonly url: string; readonly token: string }

export type ForeignClient = {
  readonly name: string
  /** False where the test set-up could not get it. */
  readonly isHere: boolean
  /** The tools by which it follows a call that waits for a person; none where it follows a task by itself. */
  readonly follows: readonly string[]
  readonly open: (access: Access) => Promise<DrivenClient>
}

const byTool = ['approvals__wait']

const here = (file: string): string => new URL(file, import.meta.url).pathname

const envOf = ({ url, token }: Access, era: string): Record<string, string> => ({
  ...{ GATE_URL: url, GATE_TOKEN: token, GATE_ERA: era },
  ...{ GATE_AUTHORIZATION: `Bearer ${token}` },
})

const sdk = (name: string, era: 'legacy' | 'modern'): ForeignClient => ({
  name,
  isHere: true,
  follows: byTool,
  open: (access) => openDrivenClient([process.execPath, here('sdk-drive.mjs')], envOf(access, era)),
})

/** A library or a command with a driver in its folder. */
const driven = (
  name: string,
  program: ForeignProgram | null,
  { era = '', follows = byTool }: { era?: string; follows?: readonly string[] } = {},
): ForeignClient => ({
  name,
  isHere: program !== null,
  follows,
  async open(access) {
    if (!program) throw new Error(`${name} is not installed`)
    return openDrivenClient([program.node, join(program.folder, 'drive.mjs')], envOf(access, era))
  },
})

/** A program between a client on standard streams and the gate. */
const bridge = (
  name: string,
  program: ForeignProgram | null,
  main: string,
  argsOf: (access: Access) => readonly string[],
): ForeignClient => ({
  name,
  isHere: program !== null,
  follows: byTool,
  async open(access) {
    if (!program) throw new Error(`${name} is not installed`)
    return openDrivenClient(
      [
        ...[process.execPath, here('sdk-drive.mjs')],
        ...[program.node, program.file(main), ...argsOf(access)],
      ],
      envOf(access, 'stdio'),
    )
  },
})

const inspector = foreignProgram('inspector')

export const foreignClients: readonly ForeignClient[] = [
  sdk('the official SDK, version 1', 'legacy'),
  sdk('the official SDK, version 2', 'modern'),
  driven('the AI SDK', foreignProgram('ai-sdk')),
  driven('LangChain', foreignProgram('langchain')),
  driven('the OpenAI Agents SDK', foreignProgram('openai-agents')),
  driven('the Inspector, before 2026-07-28', inspector, { era: 'legacy' }),
  driven('the Inspector, as of 2026-07-28', inspector, { era: 'modern', follows: [] }),
  bridge('mcp-remote', foreignProgram('mcp-remote'), 'mcp-remote/dist/proxy.js', ({ url }) => [
    ...[url, '--header', `Authorization:\${GATE_AUTHORIZATION}`, '--transport', 'http-only'],
  ]),
  bridge(
    'supergateway',
    foreignProgram('supergateway'),
    'supergateway/dist/index.js',
    ({ url, token }) => ['--streamableHttp', url, '--oauth2Bearer', token],
  ),
]
