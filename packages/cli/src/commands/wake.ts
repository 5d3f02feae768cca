import { CliError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { readJsonObject } from '../read-json-object.ts'
import { sendWake } from '../send-wake.ts'

export const wake = defineCommand({
  name: 'wake',
  summary: 'Wake an agent: notify it that there is work',
  args: { name: 'the agent to wake' },
  options: {
    reason: { value: 'TEXT', about: 'why, for the agent to read' },
    data: { value: 'JSON', about: 'a JSON object for the agent' },
  },
  examples: [
    'gatehouse wake mailbot --reason "new mail"',
    `gatehouse wake reviewer --data '{"pull_request": 12}'`,
  ],
  async run({ io, server }, { name, reason, data }) {
    const sent = {
      agent: name,
      ...(reason === undefined ? {} : { reason }),
      ...(data === undefined
        ? {}
        : {
            data: readJsonObject(data, '--data takes a JSON object, such as {"pull_request": 12}.'),
          }),
    }
    const { wake_port } = await server()
    if (typeof wake_port !== 'number')
      throw new CliError('NotReachable', exitCodes.notReachable, 'The server takes no wakes.')
    const { ok, error } = await sendWake(wake_port, sent, io.signal)
    if (!ok) {
      const unknown = error === 'no such agent'
      throw new CliError(
        unknown ? 'AgentNotFound' : 'WakeRefused',
        unknown ? exitCodes.notFound : exitCodes.failed,
        unknown ? `There is no agent ${name}.` : `Agent ${name} was not woken: ${error ?? ''}.`,
      )
    }
    return { agent: name, ok }
  },
  text: ({ agent }) => `${escapeText(agent)} is woken.`,
})
