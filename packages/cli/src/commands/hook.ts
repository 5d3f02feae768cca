import { usageError } from '../cli-error.ts'
import { defineLoneCommand } from '../define.ts'
import { endedBy } from '../ended.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { askGate, findHookToken, findUserApi, readCall, tokenVariable } from '../hooks/ask-gate.ts'
import {
  blockedOutput,
  type HookClient,
  hookClients,
  leftToOwnEvent,
} from '../hooks/hook-clients.ts'

/** Clients take this code for a block, and every other one but 0 for a hook that broke: the call goes on. */
export const blocked: ExitCode = exitCodes.wrongUsage

const isHookClient = (name: string): name is HookClient =>
  (hookClients as readonly string[]).includes(name)

export const hook = defineLoneCommand({
  name: 'hook',
  summary: 'Decide whether a coding agent may use one of its own tools',
  args: { client: hookClients.join(', ').replace(/, (?=[^,]*$)/, ' or ') },
  options: {
    'token-file': { value: 'FILE', about: `the hook's token; without it ${tokenVariable}` },
    url: { value: 'URL', about: 'the User API, where it is not the one of the data directory' },
    others: { about: 'leave shell commands and MCP tools to their separate hooks, as in Cursor' },
  },
  examples: ['gatehouse hook claude-code --token-file claude-code.hook-token'],
  /** @SECURITY Any failure blocks the call; hook-failures.test.ts fails without it. */
  async runAlone({ io, places }, { client, 'token-file': file, url: named, others }) {
    try {
      if (!isHookClient(client))
        throw usageError(`CLIENT is one of ${hookClients.join(', ')}, not "${client}".`)
      if (io.stdin.isTTY)
        throw usageError(
          'hook reads what a client says of a call from its input; it is for clients.',
        )
      using signal = endedBy(io.signal)
      const token = await findHookToken(file, io.env[tokenVariable])
      const url = await findUserApi(named, places)
      const { text, given } = await readCall(io.stdin.chunks(signal))
      const left = others ? leftToOwnEvent(given) : null
      const answer = left ?? (await askGate({ client, url, token, call: text, signal }))
      await io.stdout.write(`${answer}\n`)
      return exitCodes.done
    } catch (error) {
      const { blockedReason } = await import('../hooks/blocked.ts')
      const reason = blockedReason(error, io, places)
      const output = blockedOutput(client, reason)
      if (output !== '') await io.stdout.write(`${output}\n`)
      await io.stderr.write(`${reason}\n`)
      return blocked
    }
  },
})
