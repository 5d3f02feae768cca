import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { shownList } from '../secret-text.ts'
import { renderTable } from '../table.ts'

export const vaultList = defineCommand({
  name: 'vault list',
  summary: 'List the secrets, with their scopes and last use, never their values',
  examples: ['gatehouse vault list', 'gatehouse vault list --json'],
  run: ({ api }) => api.listSecrets(),
  text: ({ secrets }, view) =>
    secrets.length === 0
      ? `There are no secrets. Add one: ${view.next('vault add NAME --capability … --host … --agent …')}`
      : renderTable(
          [
            { title: 'NAME', value: ({ name }) => escapeText(name) },
            { title: 'LAST USED', time: ({ last_use: use }) => use?.at ?? null },
            { title: 'VALUE OF', time: ({ rotated_at: at }) => at },
            {
              title: 'AGENTS',
              value: ({ agents }) => shownList(agents),
              below: (text) => `for ${text}`,
            },
            {
              title: 'CAPABILITIES',
              value: ({ capabilities }) => shownList(capabilities),
              below: (text) => `in ${text}`,
            },
            {
              title: 'HOSTS',
              value: ({ hosts }) => shownList(hosts),
              below: (text) => `to ${text}`,
            },
          ],
          secrets,
          view,
        ),
})
