import { ProcessSignal } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { z } from 'zod'
import { commandLine } from '../../domain/processes/command-line.ts'
import { defineCapability, smallResult } from '../define.ts'
import { textPreview } from '../text-preview.ts'
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
  preview: async ({ signal, process_id }, { processes }) => {
    const { process } = await processes.monitor(process_id)
    return textPreview(
      commandLine(['kill', '-s', signal, process_id]),
      `process: ${commandLine([process.command, ...process.args])}`,
      `in: ${process.working_directory}`,
      process.state !== 'running' && `It is ${process.state}, so the call is refused.`,
    )
  },
  resolve: async ({ process_id }, { processes }) => ({
    state: (await processes.monitor(process_id)).process.state,
  }),
  async run(ctx, { process_id, ...how }) {
    const { process } = await ctx.processes.monitor(process_id)
    ctx.note({ object: describeCall('process.run', process) })
    return ctx.processes.kill(process_id, how)
  },
})
