import { defineCommand } from '../define.ts'

const signals = [
  ...(['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGQUIT', 'SIGABRT'] as const),
  ...(['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGSTOP', 'SIGCONT'] as const),
] as const

export const processesKill = defineCommand({
  name: 'processes kill',
  summary: 'Kill a program of an agent and everything it started',
  args: { id: 'its id, as `processes list` shows it' },
  options: {
    signal: { value: 'NAME', choices: signals, about: 'the signal (SIGTERM)' },
    'force-after': { value: 'SECONDS', integer: true, about: 'send SIGKILL after this long (10)' },
  },
  examples: [
    'gatehouse processes kill proc-01jqz4xk2m8v5w9r3t6y0b7n1c',
    'gatehouse processes kill proc-01jqz4xk2m8v5w9r3t6y0b7n1c --signal SIGKILL --yes',
  ],
  question: ({ id, signal }) => `Send ${signal ?? 'SIGTERM'} to ${id}?`,
  async run({ api }, { id, signal, 'force-after': force_after_seconds }) {
    return api.killProcess({ id, signal, force_after_seconds })
  },
  text: ({ process_id, state, signal_sent }) =>
    `${process_id} was sent ${signal_sent} and is ${state}.`,
})
