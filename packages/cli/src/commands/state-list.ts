import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const stateList = defineCommand({
  name: 'state list',
  summary: 'List the state keys of an agent, or the shared ones',
  args: { agent: 'the agent, or shared' },
  options: {
    prefix: { value: 'TEXT', about: 'only keys with this prefix' },
    after: { value: 'KEY', about: 'only keys after this one' },
    limit: { value: 'N', integer: true, about: 'at most this many (10000)' },
  },
  examples: ['gatehouse state list mailbot', 'gatehouse state list shared --prefix build/'],
  run: ({ api }, { agent, prefix, after, limit }) => api.listState({ agent, prefix, after, limit }),
  text: ({ keys }, view) =>
    keys.length === 0
      ? 'Nothing is stored.'
      : renderTable(
          [
            { title: 'KEY', value: ({ key }) => key },
            { title: 'BYTES', value: ({ size_bytes }) => size_bytes, align: 'right' },
            { title: 'VERSION', value: ({ version }) => version, align: 'right' },
            { title: 'UPDATED', time: ({ updated_at }) => updated_at },
          ],
          keys,
          view,
        ),
})
