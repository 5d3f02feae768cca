import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeLines } from '../escape-text.ts'

export const processesLogs = defineCommand({
  name: 'processes logs',
  summary: 'Print the output of a program of an agent, by default the end',
  args: { id: 'its id, as `processes list` shows it' },
  options: {
    stream: { value: 'NAME', choices: ['stdout', 'stderr'], about: 'the stream (stdout)' },
    offset: { value: 'BYTES', integer: true, about: 'start here instead of near the end' },
    limit: { value: 'BYTES', integer: true, about: 'at most this many (65536)' },
  },
  examples: [
    'gatehouse processes logs proc-01jqz4xk2m8v5w9r3t6y0b7n1c',
    'gatehouse processes logs proc-01jqz4xk2m8v5w9r3t6y0b7n1c --stream stderr --offset 0',
  ],
  run: ({ api }, { id, stream, offset, limit }) =>
    api.readProcessLog({ id, stream, offset, limit }),
  text: ({ content, lost_bytes }) =>
    [
      ...(lost_bytes > 0
        ? [`(${counted(lost_bytes, 'earlier byte is', 'earlier bytes are')} no longer kept)`]
        : []),
      escapeLines(content.replace(/\n$/, '')),
    ].join('\n'),
})
