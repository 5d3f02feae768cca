import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'
import { serverText } from '../upstream-text.ts'

export const upstreamList = defineCommand({
  name: 'upstream list',
  summary: 'List the MCP servers behind the gate',
  examples: ['gatehouse upstream list', 'gatehouse upstream list --json'],
  run: ({ api }) => api.listUpstreams(),
  text: ({ upstreams }, view) =>
    upstreams.length === 0
      ? `There is none. Add one: ${view.next('upstream add --help')}`
      : renderTable(
          [
            { title: 'NAME', value: ({ name }) => name },
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'OFFERED', value: ({ offered }) => offered, align: 'right' },
            { title: 'WAITING', value: ({ waiting }) => waiting, align: 'right' },
            { title: 'SERVER', value: serverText, cut: true },
            { title: 'REASON', value: ({ reason }) => reason, below: true },
          ],
          upstreams,
          view,
        ),
})
