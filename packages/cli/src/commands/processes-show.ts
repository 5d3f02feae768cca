import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { shownTime } from '../times.ts'

export const processesShow = defineCommand({
  name: 'processes show',
  summary: 'Show one program of an agent',
  args: { id: 'its id, as `processes list` shows it' },
  examples: ['gatehouse processes show proc-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.showProcess({ id }),
  text: (process) =>
    [
      `${process.process_id} of ${process.agent} is ${process.state}`,
      `  command      ${escapeText(JSON.stringify([process.command, ...process.args]))}`,
      `  folder       ${escapeText(process.working_directory)}`,
      `  sandbox      ${process.sandbox}`,
      `  network      ${process.network.length > 0 ? process.network.join(', ') : 'none'}`,
      `  started      ${shownTime(process.started_at)}`,
      `  ended        ${process.ended_at ? shownTime(process.ended_at) : '-'}`,
      `  exit         ${process.exit_code ?? process.signal ?? '-'}`,
      ...(process.detail ? [`  why          ${escapeText(process.detail)}`] : []),
      `  wrote        ${process.stdout_bytes} bytes, ${process.stderr_bytes} of errors`,
      `  used         ${process.cpu_ms ?? '-'} ms, ${process.memory_bytes_max ?? '-'} bytes at most`,
    ].join('\n'),
})
