import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import type { Io } from '../io.ts'

/** The first line of the input; never an argument, which other users of the machine can see. */
async function readPassword({ stdin, stderr }: Io): Promise<string> {
  if (stdin.isTTY) await stderr.write('Type the new password, Enter, and Ctrl-D (it is shown):\n')
  const [line = ''] = (await stdin.readAll()).split(/\r?\n/, 1)
  if (line === '') throw usageError('The input has no password in it: send it as one line.')
  return line
}

export const operatorSetPassword = defineCommand({
  name: 'operator set-password',
  summary: 'Set the password of a person at the dashboard, creating the login if needed',
  options: {
    name: { value: 'NAME', about: 'the person (the first one, or "operator")' },
    role: {
      value: 'ROLE',
      choices: ['operator', 'approver', 'viewer'],
      about: 'what the person may do: everything (default), decide and cancel writes, or read',
    },
  },
  examples: [
    'gatehouse operator set-password < password.txt',
    'pwgen 20 1 | tee password.txt | gatehouse operator set-password --name ana --role approver',
  ],
  withoutData: 'begins',
  async run({ api, io }, { name, role }) {
    const password = await readPassword(io)
    const whose = name ?? (await api.listOperators()).operators[0]?.name ?? 'operator'
    return api.setPassword({ name: whose, password, ...(role === undefined ? {} : { role }) })
  },
  text: ({ name, created }) =>
    created
      ? `${escapeText(name)} can now log in to the dashboard.`
      : `${escapeText(name)} has a new password. Every login with the old one has ended.`,
})
