import { paintStatus } from '../colour.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { shownTimes } from '../times.ts'

export const processesShow = defineCommand({
  name: 'processes show',
  summary: 'Show one program of an agent',
  args: { id: 'its id, as `processes list` shows it' },
  examples: ['gatehouse processes show proc-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.showProcess({ id }),
  text: (process, { coloured }) =>
    [
      `${process.process_id} of ${process.agent} is ${paintStatus(process.state, coloured)}`,
      `  command      ${escapeText(JSON.stringify([process.command, ...process.args]))}`,
      `  folder       ${escapeText(process.working_directory)}`,
      `  sandbox      ${process.sandbox}`,
      `  network      ${process.network.length > 0 ? process.network.join(', ') : 'none'}`,
      `  started      ${shownTimes(process.started_at)}`,
      `  ended        ${process.ended_at ? shownTimes(process.ended_at) : '-'}`,
      `  exit         ${process.exit_code ?? process.signal ?? '-'}`,
      ...(process.detail ? [`  why          ${escapeText(process.detail)}`] : []),
      `  wrote        ${counted(process.stdout_bytes, 'byte')}, ${counted(process.stderr_bytes, 'byte')} of errors`,
      `  used         ${process.cpu_ms ?? '-'} ms, ${process.memory_bytes_max === null ? '-' : `${counted(process.memory_bytes_max, 'byte')} at most`}`,
    ].join('\n'),
})
