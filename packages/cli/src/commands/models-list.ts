import { defineCommand } from '../define.ts'
import { catalogText, fitText, shownBytes, stateText } from '../model-text.ts'
import { renderTable } from '../table.ts'

const asItIs = (text: string): string => text

export const modelsList = defineCommand({
  name: 'models list',
  summary: 'List local models: installed and available ones, and whether they fit in memory',
  examples: ['gatehouse models list', 'gatehouse models list --json'],
  run: ({ api }) => api.listModels(),
  text: ({ models, catalog }, view) =>
    [
      renderTable(
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'STATE', value: stateText },
          { title: 'DEFAULT', value: (model) => (model.default ? 'yes' : '-') },
          { title: 'SIZE', value: ({ size_bytes }) => shownBytes(size_bytes), align: 'right' },
          { title: 'MEMORY', value: ({ fit }) => fitText(fit) },
          { title: 'LICENCE', value: ({ license_tag }) => license_tag ?? '-', below: asItIs },
          { title: 'SOURCE', value: ({ source }) => source, below: asItIs },
          { title: 'NAME', value: ({ label }) => label ?? '-', cut: true, below: true },
        ],
        models,
        view,
      ),
      '',
      catalogText(catalog),
    ].join('\n'),
})
