import { ProcessSignal } from '@gatehouse/contract'
import { z } from 'zod'
import { commandLine } from '../../domain/processes/command-line.ts'
import { defineCapability, smallResult } from '../define.ts'
import { processIdField, stateField, version } from './fields.ts'

export const kill = defineCapability({
  name: 'process.kill',
  title: 'Stop process',
  version,
  purpose: 'Send a signal to one of your processes, and end it if it does not stop.',
  when_to_use:
    'process.list names your processes. SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGSTOP and SIGCONT are only sent; any other signal is followed by SIGKILL for it and all that it started.',
  inputs: z.strictObject({
    process_id: processIdField,
    signal: ProcessSignal.default('SIGTERM'),
    force_after_seconds: z
      .int()
      .min(0)
      .max(60)
      .default(10)
      .describe('How long it has to end by itself.'),
  }),
  outputs: z.object({
    process_id: z.string(),
    state: stateField,
    signal_sent: z.string(),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'the process and all that it started end', reversible: false }],
  common_patterns: [
    { title: 'End it', arguments: { process_id: 'proc-01jqz4xk2m8v5w9r3t6y0b7n1c' } },
    {
      title: 'Let it read its settings again',
      arguments: { process_id: 'proc-01jqz4xk2m8v5w9r3t6y0b7n1c', signal: 'SIGHUP' },
    },
  ],
  errors: ['ProcessNotFound', 'ProcessNotRunning', 'ProcessElsewhere'],
  timeout_seconds: 90,
  result_bytes_max: smallResult,
  preview: ({ signal, process_id }) => ({
    kind: 'command',
    text: commandLine(['kill', '-s', signal, process_id]),
  }),
  async run(ctx, { process_id, ...how }) {
    return ctx.processes.kill(process_id, how)
  },
})
