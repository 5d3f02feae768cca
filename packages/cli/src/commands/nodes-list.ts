import { asNextStep } from '../as-next-step.ts'
import { red } from '../colour.ts'
import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

const placesText = {
  one: [],
  shared: ['All nodes see one folder of workspaces: calls run on any of them.'],
  separate: [
    "Nodes have folders of workspaces of their own: calls that reach into an agent's folders are forwarded to the node that has them.",
  ],
} as const

export const nodesList = defineCommand({
  name: 'nodes list',
  summary: 'List the nodes of this installation and what they run',
  examples: ['gatehouse nodes list'],
  run: ({ api }) => api.listNodes(),
  text: ({ nodes, shared, workspaces }, view) =>
    [
      renderTable(
        [
          { title: 'NODE', value: ({ name, answering }) => `${name}${answering ? ' *' : ''}` },
          { title: 'STATUS', value: ({ status }) => status },
          { title: 'VERSION', value: ({ version }) => version },
          { title: 'SESSIONS', value: ({ sessions }) => String(sessions) },
          { title: 'WORKSPACES', value: ({ site }) => site ?? '-' },
          { title: 'SEEN', time: ({ seen_at }) => seen_at, below: (text) => `seen ${text}` },
          { title: 'ADDRESS', value: ({ address }) => address ?? '-', below: true },
          { title: 'PLACE', value: ({ place }) => place, cut: true, below: true },
        ],
        nodes,
        view,
      ),
      ...nodes.flatMap(({ name, log_finding: found }) =>
        found
          ? [
              red(`${name} found in the audit log: ${found.kind}: ${found.detail}`, view.coloured),
              `Next step: ${asNextStep(found.remedy, view.next)}`,
            ]
          : [],
      ),
      ...nodes.flatMap(({ name, unreachable }) =>
        unreachable === null
          ? []
          : [
              red(
                `This node can't reach ${name}, and forwards nothing there: ${unreachable}. Set node_url on ${name}.`,
                view.coloured,
              ),
            ],
      ),
      ...(shared ? placesText[workspaces] : ['The store is SQLite, so there is one node.']),
    ].join('\n'),
})
