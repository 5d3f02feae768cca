import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const processesList = defineCommand({
  name: 'processes list',
  summary: 'List the programs that agents run or have run in the background',
  options: {
    agent: { value: 'NAME', about: 'only this agent' },
    running: { about: 'only running programs' },
    limit: { value: 'N', integer: true, about: 'at most this many (50)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: ['gatehouse processes list', 'gatehouse processes list --running --agent mailbot'],
  run: ({ api }, { agent, running, limit, offset }) =>
    api.listProcesses({
      agent,
      ...(running ? { state: 'running' } : {}),
      limit,
      offset,
    }),
  text: ({ processes, total }, view) =>
    processes.length === 0
      ? 'No agent runs a program.'
      : [
          renderTable(
            [
              { title: 'ID', value: ({ process_id }) => process_id },
              { title: 'AGENT', value: ({ agent }) => agent },
              { title: 'STATE', value: ({ state }) => state },
              { title: 'EXIT', value: ({ exit_code, signal }) => exit_code ?? signal ?? '-' },
              { title: 'SANDBOX', value: ({ sandbox }) => sandbox, below: (text) => `in ${text}` },
              {
                title: 'STARTED',
                time: ({ started_at }) => started_at,
                below: (text) => `started ${text}`,
              },
              {
                title: 'COMMAND',
                value: ({ command, args }) => [command, ...args].join(' '),
                cut: true,
                below: true,
              },
            ],
            processes,
            view,
          ),
          ...(total > processes.length ? [`${processes.length} of ${total} shown.`] : []),
        ].join('\n'),
})
